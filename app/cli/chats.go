package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"atoll/app/chats"
	"atoll/storage"
)

func (p Program) chats() *cobra.Command {
	c := &cobra.Command{Use: "chats", Short: "List and show chats", Args: cobra.NoArgs}
	c.AddCommand(p.chatsList(), p.chatsShow())
	return c
}

func (p Program) chatsList() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "list",
		Short:   "List the chats, newest first",
		Example: "  atoll chats list",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			host, err := p.connect(c.Context())
			if err != nil {
				return err
			}
			var list chats.List
			if err := host.Call(c.Context(), "chats.list", nil, &list); err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(p.Out).Encode(list)
			}
			w := tabwriter.NewWriter(p.Out, 0, 4, 2, ' ', 0)
			for _, ch := range list.Chats {
				if ch.Leaf == "" { // nothing was asked in it yet
					continue
				}
				fmt.Fprintf(w, "%s\t%s\t%s\n", ch.ID, ch.Updated.Local().Format("2006-01-02 15:04"), printable(ch.Title))
			}
			return w.Flush()
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return c
}

func (p Program) chatsShow() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "show ID",
		Short:   "Print a chat",
		Example: "  atoll chats show 0193f0c2-...",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			host, err := p.connect(c.Context())
			if err != nil {
				return err
			}
			var v chats.View
			if err := host.Call(c.Context(), "chats.get", chats.ID{ID: args[0]}, &v); err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(p.Out).Encode(v)
			}
			for _, e := range v.Entries {
				printEntry(p.Out, e)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return c
}

func printEntry(w io.Writer, e storage.Entry) {
	var u storage.User
	var a storage.Assistant
	var r storage.Result
	var f storage.Fault
	read := func(v any) bool { return json.Unmarshal(e.Body, v) == nil }
	switch {
	case e.Kind == storage.UserSaid && read(&u):
		fmt.Fprintf(w, "── you, %s\n", e.At.Local().Format("2006-01-02 15:04"))
		for _, f := range u.Files {
			fmt.Fprintf(w, "[%s, %s]\n", printable(f.Name), size(f.Size))
		}
		fmt.Fprintln(w, printable(u.Text))
	case e.Kind == storage.AssistantSaid && read(&a):
		fmt.Fprintf(w, "── %s\n", a.Model)
		if a.Text != "" {
			fmt.Fprintln(w, printable(a.Text))
		}
		for _, c := range a.Calls {
			fmt.Fprintf(w, "```%s\n%s\n```\n", c.Language, printable(strings.TrimRight(c.Code, "\n")))
		}
	case e.Kind == storage.CallEnded && read(&r):
		var s Step
		fill(&s, r)
		fmt.Fprintf(w, "── %s\n%s", r.Status, printable(s.Stdout))
		if s.Error != "" {
			fmt.Fprintln(w, printable(s.Error))
		}
		for _, f := range r.Files {
			fmt.Fprintf(w, "[made %s, %s]\n", printable(f.Name), size(f.Size))
		}
	case e.Kind == storage.Failed && read(&f):
		fmt.Fprintf(w, "── %s\n", f.Title)
	case e.Kind == storage.CallDecided:
	default:
		fmt.Fprintf(w, "── %s entry, %d bytes\n", e.Kind, len(e.Body))
	}
}
