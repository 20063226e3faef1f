package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"atoll/sandbox/proxy"
)

// maxPolicy bounds the text of a policy.
const maxPolicy = 1 << 20

// ParsePolicy reads a policy as encoding/json writes one. Unknown and repeated
// names are refused, so that a slip of the pen is not a hole; so are more than
// 1 MiB and a network that does not exist. The error wraps [ErrPolicy]. Paths
// are not looked at: that is [Policy.Check], which Start does too.
func ParsePolicy(text []byte) (Policy, error) {
	var p Policy
	if len(text) > maxPolicy {
		return p, fmt.Errorf("%w: it is longer than %d bytes", ErrPolicy, maxPolicy)
	}
	if err := uniqueNames(json.NewDecoder(bytes.NewReader(text)), 0); err != nil {
		return p, fmt.Errorf("%w: %w", ErrPolicy, err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return Policy{}, fmt.Errorf("%w: %w", ErrPolicy, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Policy{}, fmt.Errorf("%w: something follows its end", ErrPolicy)
	}
	if err := p.Network.check(); err != nil {
		return Policy{}, err
	}
	return p, nil
}

// fieldNames are the names of a policy, of its limits and of its network. The
// decoder would take them in any case, and the last of several.
var fieldNames = map[string]bool{
	"read": true, "write": true, "env": true, "network": true, "gpu": true, "languages": true, "limits": true,
	"memory": true, "fileSize": true, "disk": true, "procs": true, "files": true, "output": true, "wall": true, "cpu": true,
	"mode": true, "hosts": true,
}

// uniqueNames reads one value.
func uniqueNames(d *json.Decoder, depth int) error {
	if depth > 8 {
		return errors.New("it is nested too deep")
	}
	t, err := d.Token()
	if err != nil {
		return err
	}
	open, ok := t.(json.Delim)
	if !ok {
		return nil
	}
	seen := map[string]bool{}
	for d.More() {
		if open == '{' {
			t, err := d.Token()
			if err != nil {
				return err
			}
			name, _ := t.(string)
			if !fieldNames[name] {
				return fmt.Errorf("unknown field %q", name)
			}
			if seen[name] {
				return fmt.Errorf("field %q comes twice", name)
			}
			seen[name] = true
		}
		if err := uniqueNames(d, depth+1); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

// check returns an error that wraps [ErrPolicy] when the network is none.
func (n Network) check() error {
	switch n.Mode {
	case NetworkOff, NetworkLoopback, NetworkOn, NetworkHosts:
	default:
		return fmt.Errorf("%w: there is no network mode %q; there are \"\" (off), loopback, hosts and on", ErrPolicy, n.Mode)
	}
	if len(n.Hosts) > 0 && n.Mode != NetworkHosts {
		return fmt.Errorf("%w: hosts are named, but the network mode is %q and not \"hosts\"", ErrPolicy, n.Mode)
	}
	for _, h := range n.Hosts {
		if err := proxy.CheckHost(h); err != nil {
			return fmt.Errorf("%w: %w", ErrPolicy, err)
		}
	}
	return nil
}
