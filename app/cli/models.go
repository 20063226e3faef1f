package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"atoll/app/config"
	"atoll/app/models"
	"atoll/llm/catalog"
)

func (p Program) models() *cobra.Command {
	c := &cobra.Command{Use: "models", Short: "List, fetch and verify models", Args: cobra.NoArgs}
	c.AddCommand(p.modelsList(), p.modelsPull(), p.modelsVerify())
	return c
}

func (p Program) modelsList() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "list",
		Short:   "List the models of the catalog and of the models folder",
		Example: "  atoll models list\n  atoll models list --json",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			home, err := config.FindHome()
			if err != nil {
				return err
			}
			cat, err := catalog.Load("")
			if err != nil {
				return err
			}
			rows, err := models.New(models.Deps{Catalog: cat, Shelf: catalog.NewShelf(home.Models(), cat)}).Rows()
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(p.Out).Encode(rows)
			}
			w := tabwriter.NewWriter(p.Out, 0, 4, 2, ' ', 0)
			fmt.Fprintln(w, "NAME\tSIZE\tCONTEXT\tLICENCE\tSTATE")
			for _, r := range rows.Models {
				fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\n", r.Ref, size(r.Size), r.Context, r.License, state(r))
			}
			return w.Flush()
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return c
}

func state(r models.Row) string {
	s := "not installed"
	switch {
	case r.Problem != "":
		s = r.Problem
	case r.Installed:
		s = "installed"
	case r.Fetched > 0:
		s = fmt.Sprintf("%d %% fetched", r.Fetched*100/max(r.Size, 1))
	}
	if r.Default {
		s += ", default"
	}
	return s
}

// size writes bytes as people read them: 1.1 GB.
func size(n int64) string {
	const units = "kMGT"
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	v, u := float64(n)/1000, 0
	for v >= 1000 && u < len(units)-1 {
		v, u = v/1000, u+1
	}
	return fmt.Sprintf("%.1f %cB", v, units[u])
}

// sourceFlags say where the bytes of a model may come from.
type sourceFlags struct {
	from   []string
	folder string
}

func (f *sourceFlags) add(c *cobra.Command) {
	c.Flags().StringSliceVar(&f.from, "from", nil, "use only these `SOURCES`, in this order: pieces, http, folder, or the name of one (default: those of the catalog)")
	c.Flags().StringVar(&f.folder, "folder", "", "take the file from `DIR`, for example a USB stick")
}

func (f sourceFlags) options(ctx context.Context) catalog.Options {
	return catalog.Options{Order: f.from, Folder: f.folder, Python: pythonProgram(ctx)}
}

func (p Program) modelsPull() *cobra.Command {
	var src sourceFlags
	c := &cobra.Command{
		Use:   "pull [NAME]",
		Short: "Fetch a model of the catalog, or go on with an interrupted fetch",
		Long: `Pull fetches a model into the models folder and checks its SHA-256. What was
interrupted goes on where it was. Without NAME it fetches the default model.`,
		Example: "  atoll models pull\n  atoll models pull qwen2.5-coder-0.5b\n  atoll models pull --folder /media/usb",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			name := ""
			if len(args) == 1 {
				name = args[0]
			}
			home, err := config.FindHome()
			if err != nil {
				return err
			}
			path, err := p.pull(c.Context(), home, name, src.options(c.Context()))
			if err == nil {
				fmt.Fprintln(p.Out, path)
			}
			return err
		},
	}
	src.add(c)
	return c
}

// pull fetches a model with its progress on standard error.
func (p Program) pull(ctx context.Context, home config.Home, name string, o catalog.Options) (string, error) {
	cat, err := catalog.Load("")
	if err != nil {
		return "", err
	}
	e := cat.Default()
	if name != "" {
		if e, err = cat.Find(name); err != nil {
			return "", err
		}
	}
	if err := home.Make(); err != nil {
		return "", err
	}
	line := p.progress(e.Title)
	path, err := catalog.Fetch(ctx, e, home.Models(), o, func(pr catalog.Progress) {
		if pr.Note != "" {
			line.note(pr.Note)
		}
		line.show(pr.Done, pr.Total, fmt.Sprintf("%s of %s, part %d of %d", size(pr.Done), size(pr.Total), pr.Part, pr.Parts))
	})
	line.end()
	return path, err
}

func (p Program) modelsVerify() *cobra.Command {
	return &cobra.Command{
		Use:     "verify [NAME]...",
		Short:   "Hash installed models and compare with the catalog",
		Example: "  atoll models verify\n  atoll models verify qwen2.5-coder-1.5b",
		RunE: func(c *cobra.Command, names []string) error {
			home, err := config.FindHome()
			if err != nil {
				return err
			}
			cat, err := catalog.Load("")
			if err != nil {
				return err
			}
			shelf := catalog.NewShelf(home.Models(), cat)
			if len(names) == 0 {
				items, err := shelf.List()
				if err != nil {
					return err
				}
				for _, it := range items {
					names = append(names, it.Name)
				}
			}
			if len(names) == 0 {
				fmt.Fprintf(p.Out, "the models folder %s is empty; atoll models pull fetches the starter model\n", home.Models())
				return nil
			}
			var first error
			for _, n := range names {
				line := p.progress(n)
				it, err := shelf.Verify(c.Context(), n, func(done, total int64) { line.show(done, total, size(done)) })
				line.end()
				switch {
				case err != nil:
					fmt.Fprintf(p.Out, "%s: %v\n", n, err)
					if first == nil {
						first = err
					}
				case it.Verified:
					fmt.Fprintf(p.Out, "%s: right, SHA-256 %s\n", n, it.SHA256)
				default:
					fmt.Fprintf(p.Out, "%s: not in the catalog, SHA-256 %s\n", n, it.SHA256)
				}
			}
			return first
		},
	}
}

// progressLine rewrites one line on a terminal, and prints few lines elsewhere.
type progressLine struct {
	p     Program
	label string
	tty   bool
	last  int64
	any   bool
}

func (p Program) progress(label string) *progressLine {
	return &progressLine{p: p, label: label, tty: isTerminal(p.Err), last: -1}
}

func (l *progressLine) show(done, total int64, text string) {
	percent := done * 100 / max(total, 1)
	step := int64(10)
	if l.tty {
		step = 1
	}
	if l.any && percent/step <= l.last/step { // it goes back a little where a part is checked again
		return
	}
	l.last, l.any = percent, true
	if l.tty {
		fmt.Fprintf(l.p.Err, "\r\x1b[K%s: %d %% (%s)", l.label, percent, text)
		return
	}
	fmt.Fprintf(l.p.Err, "%s: %d %% (%s)\n", l.label, percent, text)
}

func (l *progressLine) note(s string) {
	if l.tty && l.any {
		fmt.Fprintln(l.p.Err)
	}
	fmt.Fprintf(l.p.Err, "%s: %s\n", l.label, s)
}

func (l *progressLine) end() {
	if l.tty && l.any {
		fmt.Fprintln(l.p.Err)
	}
}
