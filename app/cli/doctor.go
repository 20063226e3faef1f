package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"atoll/app"
	"atoll/app/cells"
	"atoll/app/client"
	"atoll/app/config"
	"atoll/app/doctor"
	"atoll/app/fault"
	"atoll/app/models"
	"atoll/llm/catalog"
)

func (p Program) doctor() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "doctor",
		Short:   "Check engine, sandbox, Python, models, disk and memory",
		Long:    "Doctor looks at everything that an answer needs and says what to do about what\nis not right. The exit status is 0 when everything works, 1 otherwise.",
		Example: "  atoll doctor\n  atoll doctor --json",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			needs, err := p.doctorNeeds()
			if err != nil {
				return err
			}
			checks := doctor.Run(c.Context(), needs)
			bad := false
			for _, k := range checks {
				bad = bad || k.State == doctor.Bad
			}
			if asJSON {
				err = json.NewEncoder(p.Out).Encode(map[string]any{"version": p.Version, "ok": !bad, "checks": checks})
			} else {
				p.printChecks(checks)
			}
			if err == nil && bad {
				err = exitStatus(fault.ExitFailed)
			}
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return c
}

func (p Program) doctorNeeds() (doctor.Needs, error) {
	home, err := config.FindHome()
	if err != nil {
		return doctor.Needs{}, err
	}
	self, err := client.Program()
	if err != nil {
		return doctor.Needs{}, err
	}
	cat, err := catalog.Load("")
	if err != nil {
		return doctor.Needs{}, err
	}
	runner := app.Runner(self)
	return doctor.Needs{
		Home:      home,
		EngineDir: config.EngineDir(),
		Runner:    runner,
		Models:    models.New(models.Deps{Catalog: cat, Shelf: catalog.NewShelf(home.Models(), cat)}),
		Python:    cells.FindPython(home),
		TryEngine: func(ctx context.Context) (string, error) { return app.TryEngine(ctx, runner, self) },
		TryCell: func(ctx context.Context) error {
			code, err := p.runScript(ctx, script{source: "print('ok')", quiet: true})
			if err == nil && code != 0 {
				err = errors.New("Python ended with status " + fmt.Sprint(code))
			}
			return err
		},
	}, nil
}

func (p Program) printChecks(checks []doctor.Check) {
	mark := map[doctor.State]string{doctor.Good: "ok  ", doctor.Warning: "warn", doctor.Bad: "BAD "}
	for _, k := range checks {
		fmt.Fprintf(p.Out, "%s  %-28s %s\n", mark[k.State], k.Name, k.Detail)
		if k.State != doctor.Good && k.Fix != "" {
			fmt.Fprintf(p.Out, "      %-28s → %s\n", "", k.Fix)
		}
	}
}
