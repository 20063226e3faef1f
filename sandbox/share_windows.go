package sandbox

import (
	"context"
	"fmt"
)

// Share lets every program that runs in a sandbox read and execute what lies in
// dir, for good, so that policies which name it cost nothing at each start. It is
// for folders of this program's own without secrets, such as installed libraries,
// and it goes with them. Other systems need none of this; there it does nothing.
func Share(ctx context.Context, dir string) error {
	lists, err := grantsDir()
	if err != nil {
		return fmt.Errorf("share %s: %w", dir, err)
	}
	unlock, err := lockLists(lists)
	if err != nil {
		return fmt.Errorf("share %s: %w", dir, err)
	}
	defer unlock()
	err = aclWalk{ctx: ctx, change: func(_ string, folder bool, acl []byte) ([]byte, error) {
		return aclGrant(acl, appPackages, grantRead.entries(folder))
	}}.tree(dir)
	if err != nil {
		return fmt.Errorf("share %s: %w", dir, err)
	}
	return nil
}
