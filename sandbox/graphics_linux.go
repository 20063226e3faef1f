package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// graphicsDevices are the nodes through which programs compute on a graphics
// card. Those that switch screens (/dev/dri/card*) are not among them.
var graphicsDevices = []string{
	"/dev/dri/renderD*", "/dev/kfd", "/dev/nvidia[0-9]*", "/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools",
	"/dev/nvidia-caps/nvidia-cap*", "/dev/accel/accel*",
}

// graphicsFiles tell libraries which drivers there are.
var graphicsFiles = []string{"/etc/vulkan", "/etc/OpenCL", "/etc/glvnd", "/etc/drirc"}

// addGraphics shows the cards that this machine has, and of /sys the folders
// that describe them. /proc/driver/nvidia cannot be shown in a /proc of one's
// own; the libraries work without.
func (o *order) addGraphics() {
	for _, pattern := range graphicsDevices {
		nodes, _ := filepath.Glob(pattern) // the patterns are well-formed
		for _, node := range nodes {
			var st unix.Stat_t
			if unix.Lstat(node, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFCHR && !hasPath(o.Write, node) {
				o.Write = append(o.Write, node)
				o.describe(fmt.Sprintf("/sys/dev/char/%d:%d", unix.Major(st.Rdev), unix.Minor(st.Rdev)))
			}
		}
	}
	for _, path := range graphicsFiles {
		if _, err := os.Stat(path); err == nil && !hasPath(o.Read, path) {
			o.Read = append(o.Read, path)
		}
	}
}

// describe shows what /sys says about a device: the folder of the card to which
// it belongs, and the name by which libraries look for it.
func (o *order) describe(number string) {
	real, err := filepath.EvalSymlinks(number)
	if err != nil || !strings.HasPrefix(real, "/sys/devices/") {
		return
	}
	card := real
	if device, err := filepath.EvalSymlinks(filepath.Join(real, "device")); err == nil && within(real, device) {
		card = device
	}
	o.Links[number] = real
	if !hasPath(o.Read, card) {
		o.Read = append(o.Read, card)
	}
}
