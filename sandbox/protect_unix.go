//go:build linux || darwin

package sandbox

import "slices"

// protect makes what the host runs later read-only in the writable trees. What
// the policy names itself as writable stays so.
func (o *order) protect() error {
	for _, w := range o.Write {
		places, err := Protected(w)
		if err != nil {
			return err
		}
		for _, p := range places {
			if !slices.Contains(o.Write, p) && !slices.Contains(o.Read, p) {
				o.Read = append(o.Read, p)
			}
		}
	}
	return nil
}
