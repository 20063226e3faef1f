package app

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"atoll/app/chats"
	"atoll/app/config"
	"atoll/app/server"
	"atoll/llm/engine"
	"atoll/sandbox"
)

// launcher starts model workers in the sandbox: they read the model and the
// libraries, and can neither write nor reach a network. A GGUF file is as
// little to be trusted as the code that a model writes.
func launcher(r sandbox.Runner, self string) engine.Launcher {
	return func(ctx context.Context, w engine.Worker) (engine.Process, error) {
		policy := sandbox.Policy{
			Read: w.Read,
			Env:  w.Env,
			// The model is as large as it is; what fits is the engine's business.
			Limits: sandbox.Limits{Memory: -1, Procs: 1024},
		}
		p, err := r.Start(context.WithoutCancel(ctx), policy, sandbox.Command{Path: self, Args: w.Args, Dir: filepath.Dir(w.Read[0])})
		if err != nil {
			return nil, err
		}
		return worker{p}, nil
	}
}

// worker is a sandboxed process as the engine sees it.
type worker struct{ sandbox.Process }

func (w worker) Wait() error {
	e := w.Process.Wait()
	if e.Code == 0 && e.Cause == sandbox.Exited {
		return nil
	}
	if e.Detail != "" {
		return fmt.Errorf("exit status %d: %s", e.Code, e.Detail)
	}
	return fmt.Errorf("exit status %d", e.Code)
}

func keep(s *chats.Service) server.Keep {
	return func(ctx context.Context, chat, name string, r io.Reader) (any, error) {
		return s.Keep(ctx, chat, name, r)
	}
}

// TryEngine starts a model worker in the sandbox and lets it load the
// libraries; it returns what computes.
func TryEngine(ctx context.Context, r sandbox.Runner, self string) (string, error) {
	return engine.Probe(ctx, engine.Options{LibDir: config.EngineDir(), Launch: launcher(r, self)})
}
