package preview

import "context"

func (c *Card) json(ctx context.Context, s source, cs charset, ext string) (bool, error) {
	return false, nil
}
