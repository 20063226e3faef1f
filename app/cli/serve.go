package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"atoll/app/client"
	"atoll/app/web"
	"atoll/frontend"
)

func (p Program) serve() *cobra.Command {
	var listen string
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve the page to a browser on this machine",
		Long: `Serve opens the same interface as the window on a loopback address and prints
it. The address holds a key; whoever opens it once is let in.`,
		Example: "  atoll serve\n  atoll serve --listen 127.0.0.1:8080",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			host, err := p.connect(c.Context())
			if err != nil {
				return err
			}
			door := &client.Door{Connect: p.connect}
			l, err := web.Listen(listen, web.Page(frontend.Dist(), door))
			if err != nil {
				return usageError{err}
			}
			fmt.Fprintf(p.Out, "Atoll is at\n  %s\n", l.URL)
			if h, err := host.Hold(c.Context()); err == nil { // the host must not leave while the page is open
				defer h()
			}
			return l.Serve(c.Context())
		},
	}
	c.Flags().StringVar(&listen, "listen", "127.0.0.1:0", "loopback `ADDRESS` to listen on")
	return c
}
