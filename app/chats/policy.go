package chats

import (
	"context"
	"errors"
	"fmt"

	"atoll/app/api"
	"atoll/app/approval"
	"atoll/app/boundary"
	"atoll/storage"
)

// PolicyOf asks for the boundary of a chat; without one, for that which a new
// chat with a policy would have.
type PolicyOf struct {
	Chat   string              `json:"chat,omitempty"`
	Policy *storage.ChatPolicy `json:"policy,omitempty"`
}

func (s *Service) showPolicy(ctx context.Context, in PolicyOf) (boundary.View, error) {
	p := boundary.Of(storage.Chat{Policy: in.Policy})
	if in.Chat != "" {
		c, err := s.Store.Chat(in.Chat)
		if err != nil {
			return boundary.View{}, err
		}
		p = boundary.Of(c)
	} else {
		var err error
		if p, err = boundary.Check(p, s.Data); err != nil {
			return boundary.View{}, fmt.Errorf("%w: %w", api.ErrInput, err)
		}
	}
	return s.view(ctx, in.Chat, p)
}

func (s *Service) view(ctx context.Context, chat string, p storage.ChatPolicy) (boundary.View, error) {
	v, err := s.Cells.Boundary(ctx, chat, p)
	if err != nil {
		return v, err
	}
	if chat != "" {
		v.Grants, err = s.Gate.Grants.List(chat, p)
	}
	if v.Grants == nil {
		v.Grants = []storage.Grant{}
	}
	return v, err
}

// SetPolicy is a new boundary for a chat.
type SetPolicy struct {
	Chat   string             `json:"chat"`
	Policy storage.ChatPolicy `json:"policy"`
}

func (s *Service) setPolicy(ctx context.Context, in SetPolicy) (boundary.View, error) {
	p, err := boundary.Check(in.Policy, s.Data)
	if err != nil {
		return boundary.View{}, fmt.Errorf("%w: %w", api.ErrInput, err)
	}
	if _, err := s.update(ctx, in.Chat, func(c *storage.Chat) error { c.Policy = &p; return nil }); err != nil {
		return boundary.View{}, err
	}
	restarted := s.Cells.Renew(in.Chat, p)
	v, err := s.view(ctx, in.Chat, p)
	v.Restarted = restarted
	return v, err
}

// AskRef names an open question.
type AskRef struct {
	Ask string `json:"ask"`
}

func (s *Service) preview(ctx context.Context, in AskRef) (api.Empty, error) {
	err := s.Gate.Preview(ctx, in.Ask)
	if errors.Is(err, approval.ErrNoAsk) || errors.Is(err, approval.ErrNoPreview) {
		err = fmt.Errorf("%w: %w", api.ErrInput, err)
	}
	return api.Empty{}, err
}

// GrantsOf asks for what holds in a chat, or everywhere.
type GrantsOf struct {
	Chat string `json:"chat,omitempty"`
}

// Grants are answers that were remembered.
type Grants struct {
	Grants []storage.Grant `json:"grants"`
}

func (s *Service) grants(_ context.Context, in GrantsOf) (Grants, error) {
	var p storage.ChatPolicy
	if in.Chat != "" {
		c, err := s.Store.Chat(in.Chat)
		if err != nil {
			return Grants{}, err
		}
		p = boundary.Of(c)
	}
	list, err := s.Gate.Grants.List(in.Chat, p)
	if list == nil {
		list = []storage.Grant{}
	}
	return Grants{list}, err
}

// GrantRef names one of them.
type GrantRef struct {
	ID string `json:"id"`
}

func (s *Service) revoke(ctx context.Context, in GrantRef) (api.Empty, error) {
	err := s.Gate.Grants.Revoke(ctx, in.ID)
	if errors.Is(err, approval.ErrNoGrant) {
		err = fmt.Errorf("%w: %w", api.ErrInput, err)
	}
	return api.Empty{}, err
}
