package proxy

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// maxName is the longest name that DNS allows.
const maxName = 253

// A pattern is one entry of the list of hosts.
type pattern struct {
	name string // lower case
	port string // "" means 80 and 443
	tree bool   // what lies below name, not name itself
}

// CheckHost returns an error, a sentence without its full stop, when text is no
// entry of a list of hosts: "example.com", "*.example.com" or either with
// ":port".
func CheckHost(text string) error {
	_, err := parsePattern(text)
	return err
}

func parsePattern(text string) (pattern, error) {
	p := pattern{name: text}
	if host, port, ok := strings.Cut(text, ":"); ok {
		n, err := strconv.Atoi(port)
		if err != nil || n < 1 || n > 65535 || strconv.Itoa(n) != port {
			return p, fmt.Errorf("%q has no valid port", text)
		}
		p.name, p.port = host, port
	}
	if rest, ok := strings.CutPrefix(p.name, "*."); ok {
		p.name, p.tree = rest, true
	}
	name, err := cleanName(p.name)
	if err != nil {
		return p, err
	}
	p.name = name
	if _, err := netip.ParseAddr(name); err == nil && p.tree {
		return p, fmt.Errorf("%q has nothing below it", name)
	}
	return p, nil
}

// cleanName returns the one way to write a host's name. Numbers in the ways
// that only old resolvers read ("2130706433", "0x7f.1") are no names.
func cleanName(name string) (string, error) {
	if a, err := netip.ParseAddr(name); err == nil && a.Zone() == "" {
		return a.String(), nil
	}
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if name == "" || len(name) > maxName {
		return "", fmt.Errorf("a host's name has 1 to %d letters", maxName)
	}
	labels := strings.Split(name, ".")
	for _, l := range labels {
		if l == "" || len(l) > 63 {
			return "", fmt.Errorf("%q is not a host's name", name)
		}
		for _, c := range []byte(l) {
			if c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
				return "", fmt.Errorf("%q is not a host's name; names with other letters are written as xn--", name)
			}
		}
	}
	if last := labels[len(labels)-1]; last[0] >= '0' && last[0] <= '9' {
		return "", fmt.Errorf("%q is a number, not a host's name", name)
	}
	return name, nil
}

// matches reports whether the entry allows a clean name and port.
func (p pattern) matches(name, port string) bool {
	if p.port != port && (p.port != "" || port != "80" && port != "443") {
		return false
	}
	if p.tree {
		return strings.HasSuffix(name, "."+p.name)
	}
	return name == p.name
}

// special are the addresses that are nobody's on the public internet, by the
// registries of RFC 6890, and one that clouds use for their own services.
var special = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
	"192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
	"224.0.0.0/4", "240.0.0.0/4", "168.63.129.16/32",
	// Of IPv6 only 2000::/3 is public at all; in it, these lead elsewhere.
	"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
)

var publicV6 = netip.MustParsePrefix("2000::/3")

func prefixes(texts ...string) []netip.Prefix {
	var out []netip.Prefix
	for _, t := range texts {
		out = append(out, netip.MustParsePrefix(t))
	}
	return out
}

// public reports whether an address is one of the public internet. An IPv4
// address in the clothes of IPv6 (mapped, NAT64, 6to4) is not.
func public(a netip.Addr) bool {
	if !a.IsValid() || a.Zone() != "" || a.Is6() && !publicV6.Contains(a) {
		return false
	}
	for _, p := range special {
		if p.Contains(a) {
			return false
		}
	}
	return true
}

// near reports whether an address lies in a network that this machine is
// directly on: with IPv6, the neighbours have public addresses too.
func near(a netip.Addr) bool {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return true // not known is not allowed
	}
	for _, i := range addrs {
		if n, ok := i.(*net.IPNet); ok {
			ip, _ := netip.AddrFromSlice(n.IP)
			ones, _ := n.Mask.Size()
			ip = ip.Unmap()
			if ip.Is4() && ones > 32 { // a mapped mask
				ones -= 96
			}
			if p, err := ip.Prefix(ones); err == nil && p.Contains(a) {
				return true
			}
		}
	}
	return false
}
