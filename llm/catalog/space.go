package catalog

import (
	"fmt"

	"github.com/shirou/gopsutil/v4/disk"
)

// checkSpace refuses to start when the rest of the file, extra bytes and the
// spare do not fit on the disk.
func (f *fetch) checkSpace(extra int64) error {
	free := f.options.free
	if free == nil {
		free = freeBytes
	}
	have, err := free(f.dir)
	if err != nil {
		return fmt.Errorf("ask for the free space of %s: %w", f.dir, err)
	}
	spare := f.options.Spare
	if spare == 0 {
		spare = Spare
	}
	need := f.entry.Bytes - f.part.offset + extra
	if short := need + spare - have; short > 0 {
		return fmt.Errorf("%w: %s needs %s more in %s and %s must stay free, but there is %s; free %s and run again",
			ErrNoSpace, f.entry.Name, size(need), f.dir, size(spare), size(have), size(short))
	}
	return nil
}

func freeBytes(dir string) (int64, error) {
	u, err := disk.Usage(dir)
	if err != nil {
		return 0, err
	}
	return int64(u.Free), nil
}

// size writes a number of bytes for people, in binary units.
func size(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.2f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	default:
		return fmt.Sprintf("%d bytes", n)
	}
}
