//go:build race

package sandbox

// raced: the race detector's own memory does not fit into the limits that some
// tests set; make test-escape runs those without it.
const raced = true
