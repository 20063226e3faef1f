//go:build race

package cells_test

// raced: the race detector's own memory does not fit into the limits that a
// test sets.
const raced = true
