//go:build race

package kernel

// raced: the race detector's own memory does not fit into the limits that some
// tests set; make test-escape runs those without it.
const raced = true
