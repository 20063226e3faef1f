//go:build !race

package cells_test

const raced = false
