package client

import "context"

// lockSpawn does nothing here: of several hosts the data folder's own lock
// lets one live, and the doors find that one.
func lockSpawn(context.Context, string) (release func(), err error) { return func() {}, nil }
