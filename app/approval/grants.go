package approval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"atoll/app/event"
	"atoll/storage"
)

// Scopes of a grant.
const (
	ScopeChat    = "chat"
	ScopeProject = "project"
)

// grantsName is the setting that holds the grants, as a list.
const grantsName = "grants"

// maxGrants bounds the list; the oldest go first.
const maxGrants = 500

// ErrNoGrant means there is no grant with that id.
var ErrNoGrant = errors.New("nothing is remembered under that number")

// settings is what grants need of the store.
type settings interface {
	Setting(name string) (json.RawMessage, error)
	SetSetting(ctx context.Context, name string, value json.RawMessage) error
}

// Grants are the answers that were remembered. Its methods may be called from
// many goroutines. A nil Grants remembers nothing.
type Grants struct {
	store settings
	mu    sync.Mutex // one change at a time
}

// NewGrants keeps grants in store.
func NewGrants(store settings) *Grants { return &Grants{store: store} }

// Remember asks for an answer to hold for longer than once.
type Remember struct {
	Scope string  `json:"scope" enum:"chat,project"`
	Hours float64 `json:"hours,omitempty"` // 0: without end
}

// all returns those that hold, oldest first.
func (g *Grants) all() ([]storage.Grant, error) {
	if g == nil {
		return nil, nil
	}
	raw, err := g.store.Setting(grantsName)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []storage.Grant
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("%w: the list of what is allowed: %w", storage.ErrDamaged, err)
	}
	now := time.Now()
	return slices.DeleteFunc(list, func(x storage.Grant) bool { return !x.Until.IsZero() && now.After(x.Until) }), nil
}

func (g *Grants) change(ctx context.Context, f func([]storage.Grant) ([]storage.Grant, error)) error {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	list, err := g.all()
	if err != nil && !errors.Is(err, storage.ErrDamaged) { // a damaged list allows nothing, and is replaced
		return err
	}
	if list, err = f(list); err != nil {
		return err
	}
	if n := len(list) - maxGrants; n > 0 {
		list = list[n:]
	}
	raw, err := json.Marshal(list)
	if err != nil {
		return err
	}
	return g.store.SetSetting(ctx, grantsName, raw)
}

// places returns where a chat's grants may be from: itself and its project.
func places(chat string, p storage.ChatPolicy) map[string]string {
	m := map[string]string{ScopeChat: chat}
	if p.Project != "" {
		m[ScopeProject] = p.Project
	}
	return m
}

// List returns the grants that hold in a chat, or all of them when chat is
// empty, newest first.
func (g *Grants) List(chat string, p storage.ChatPolicy) ([]storage.Grant, error) {
	list, err := g.all()
	if err != nil {
		return nil, err
	}
	at := places(chat, p)
	list = slices.DeleteFunc(list, func(x storage.Grant) bool { return chat != "" && at[x.Scope] != x.Where })
	slices.Reverse(list)
	return list, nil
}

// Open returns those of needs that no grant of the chat covers. When the list
// cannot be read nothing is covered.
func (g *Grants) Open(chat string, p storage.ChatPolicy, needs []event.Need) []event.Need {
	list, err := g.List(chat, p)
	if err != nil {
		return needs
	}
	open := []event.Need{}
	for _, n := range needs {
		covered := slices.ContainsFunc(list, func(x storage.Grant) bool {
			return x.Effect == n.Effect && (x.What == "" || x.What == n.What)
		})
		if !covered {
			open = append(open, n)
		}
	}
	return open
}

// Add remembers that such effects are allowed: those on any file of the scope,
// on a host by its name. That a chat asks before any code runs is its mode, and
// not an effect: it is not remembered.
func (g *Grants) Add(ctx context.Context, r Remember, chat string, p storage.ChatPolicy, needs []event.Need) error {
	where, ok := places(chat, p)[r.Scope]
	if !ok {
		return fmt.Errorf("remember for the scope %q: this chat has none", r.Scope)
	}
	if r.Hours < 0 || r.Hours > 24*366 {
		return fmt.Errorf("remember for %v hours: at most a year", r.Hours)
	}
	now := time.Now().UTC().Truncate(time.Second)
	var until time.Time
	if r.Hours > 0 {
		until = now.Add(time.Duration(r.Hours * float64(time.Hour)))
	}
	return g.change(ctx, func(list []storage.Grant) ([]storage.Grant, error) {
		for _, n := range needs {
			if n.Effect == Code {
				continue
			}
			x := storage.Grant{Effect: n.Effect, Scope: r.Scope, Where: where, At: now, Until: until}
			if n.Effect == Network {
				x.What = n.What
			}
			list = slices.DeleteFunc(list, func(o storage.Grant) bool {
				return o.Effect == x.Effect && o.What == x.What && o.Scope == x.Scope && o.Where == x.Where
			})
			x.ID = uuid.NewString()
			list = append(list, x)
		}
		return list, nil
	})
}

// Revoke takes a grant back. Errors: ErrNoGrant, those of the store.
func (g *Grants) Revoke(ctx context.Context, id string) error {
	return g.change(ctx, func(list []storage.Grant) ([]storage.Grant, error) {
		i := slices.IndexFunc(list, func(x storage.Grant) bool { return x.ID == id })
		if i < 0 {
			return nil, ErrNoGrant
		}
		return slices.Delete(list, i, i+1), nil
	})
}

// Forget drops the grants of a chat that is deleted.
func (g *Grants) Forget(ctx context.Context, chat string) error {
	return g.change(ctx, func(list []storage.Grant) ([]storage.Grant, error) {
		return slices.DeleteFunc(list, func(x storage.Grant) bool { return x.Scope == ScopeChat && x.Where == chat }), nil
	})
}
