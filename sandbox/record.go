package sandbox

import "time"

// Sub returns what lies between an earlier record of the same process and this
// one: counts and sums are differences, while Layers, Memory, Procs and Hosts
// stay, since a highest value and a list do not say when they were reached.
func (r Record) Sub(earlier Record) Record {
	type key struct{ kind, what, layer string }
	before := map[key]int64{}
	for _, d := range earlier.Denials {
		before[key{d.Kind, d.What, d.Layer}] += d.Count
	}
	out := r
	out.Denials = nil
	for _, d := range r.Denials {
		if d.Count -= before[key{d.Kind, d.What, d.Layer}]; d.Count > 0 {
			out.Denials = append(out.Denials, d)
		}
	}
	u, e := &out.Usage, earlier.Usage
	u.Wall = max(u.Wall-e.Wall, time.Duration(0))
	u.CPU = max(u.CPU-e.CPU, time.Duration(0))
	u.Written = max(u.Written-e.Written, 0)
	u.Sent = max(u.Sent-e.Sent, 0)
	u.Received = max(u.Received-e.Received, 0)
	return out
}
