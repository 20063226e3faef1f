package llm

import (
	"context"
	"fmt"
)

// A Registry resolves model names across providers. It holds no global state:
// the program builds one, explicitly, when it starts.
type Registry struct{ providers map[string]Provider }

// NewRegistry returns a registry of the given providers.
func NewRegistry(ps ...Provider) *Registry {
	r := &Registry{providers: map[string]Provider{}}
	for _, p := range ps {
		r.providers[p.ID()] = p
	}
	return r
}

// Has reports whether there is a provider called id. A nil registry has none.
func (r *Registry) Has(id string) bool {
	if r == nil {
		return false
	}
	_, ok := r.providers[id]
	return ok
}

// Open returns the model that ref names, or [ErrUnknownModel].
func (r *Registry) Open(ctx context.Context, ref Ref) (Model, error) {
	id, name := ref.Split()
	p, ok := r.providers[id]
	if !ok {
		return nil, fmt.Errorf("open %s: %w", ref, ErrUnknownModel)
	}
	return p.Open(ctx, name)
}
