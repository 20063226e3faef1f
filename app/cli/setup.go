package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"atoll/app/config"
	"atoll/sandbox"
	"atoll/sandbox/toolchain"
)

// pythonProgram is the Python whose pip fetches packages.
func pythonProgram(ctx context.Context) string { return toolchain.Python(ctx, "").Path }

func (p Program) setup() *cobra.Command {
	var src sourceFlags
	var model string
	var noModel bool
	c := &cobra.Command{
		Use:   "setup",
		Short: "Fetch the Python libraries and the starter model",
		Long: `Setup puts what Atoll needs into the data folder: the libraries that code may
use (pandas and others, from a list with hashes) and the starter model. It
goes on where an interrupted set-up was, and does nothing when all is there.
It is the only step that needs a network. Without one, take the model from a
folder with --folder, and copy the folder "python" of a data folder from a
machine like this one.`,
		Example: "  atoll setup\n  atoll setup --model qwen2.5-coder-0.5b\n  atoll setup --folder /media/usb",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx := c.Context()
			home, err := config.FindHome()
			if err != nil {
				return err
			}
			if err := home.Make(); err != nil {
				return err
			}
			libs := p.libraries(ctx, home)
			if libs != nil {
				fmt.Fprintf(p.Err, "atoll: %v\n", libs)
			}
			if noModel {
				return libs
			}
			path, err := p.pull(ctx, home, model, src.options(ctx))
			if err == nil {
				fmt.Fprintf(p.Err, "model: %s\n", path)
			}
			return errors.Join(libs, err)
		},
	}
	src.add(c)
	c.Flags().StringVar(&model, "model", "", "fetch the model `NAME` (default: the starter model)")
	c.Flags().BoolVar(&noModel, "no-model", false, "only install the Python libraries")
	return c
}

func (p Program) libraries(ctx context.Context, home config.Home) error {
	py := toolchain.Python(ctx, "")
	if !py.OK() {
		return fmt.Errorf("%s %s", py.Problem, py.Fix)
	}
	line := p.progress("Python libraries")
	defer line.end()
	err := toolchain.Install(ctx, py, home.Python(), func(step string, done, total int) {
		line.show(int64(done), int64(total), step)
	})
	if err != nil {
		return err
	}
	return sandbox.Share(ctx, home.Python())
}
