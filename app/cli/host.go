package cli

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"atoll/app"
	"atoll/app/client"
	"atoll/app/config"
)

// defaultIdle is how long a host stays when nobody needs it: the model and the
// variables of the chats live as long.
const defaultIdle = 15 * time.Minute

func (p Program) host() *cobra.Command {
	return &cobra.Command{
		Use:    "host",
		Short:  "Run the host of the data folder (started by the other commands)",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			home, err := config.FindHome()
			if err != nil {
				return err
			}
			self, err := client.Program()
			if err != nil {
				return err
			}
			idle := defaultIdle
			if s := os.Getenv("ATOLL_IDLE_EXIT"); s != "" {
				if idle, err = time.ParseDuration(s); err != nil {
					return usageError{fmt.Errorf("ATOLL_IDLE_EXIT: %w", err)}
				}
			}
			err = app.Host(c.Context(), app.Options{
				Home: home, Self: self, Version: p.Version, Build: p.Build, Idle: idle, Script: os.Getenv("ATOLL_SCRIPT"),
			})
			if err != nil {
				return exitStatus(app.Report(err).Exit())
			}
			return nil
		},
	}
}
