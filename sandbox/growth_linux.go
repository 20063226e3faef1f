package sandbox

import "golang.org/x/sys/unix"

// eachName calls do for each name of an open folder, until its first error. A
// folder that cannot be read, or no longer, has no more names.
func eachName(fd int, do func(name string) error) error {
	buf := make([]byte, 8<<10)
	for {
		n, err := unix.ReadDirent(fd, buf)
		if err != nil || n <= 0 {
			return nil
		}
		_, _, names := unix.ParseDirent(buf[:n], -1, nil)
		for _, name := range names {
			if err := do(name); err != nil {
				return err
			}
		}
	}
}
