package config

import (
	"fmt"
	"os"
	"strconv"
)

// Engine is how models are run; zero values let the engine choose.
type Engine struct {
	Context   int // tokens, ATOLL_CONTEXT
	Threads   int // ATOLL_THREADS
	GPULayers int // layers computed on a graphics device, -1 for all, ATOLL_GPU_LAYERS
}

// FindEngine reads the settings from the environment. A value that is no
// number is an error that names it.
func FindEngine() (Engine, error) {
	var e Engine
	for _, v := range []struct {
		name string
		to   *int
		min  int
	}{{"ATOLL_CONTEXT", &e.Context, 0}, {"ATOLL_THREADS", &e.Threads, 0}, {"ATOLL_GPU_LAYERS", &e.GPULayers, -1}} {
		s := os.Getenv(v.name)
		if s == "" {
			continue
		}
		n, err := strconv.Atoi(s)
		if err != nil || n < v.min {
			return e, fmt.Errorf("%s is %q; it must be a whole number of at least %d", v.name, s, v.min)
		}
		*v.to = n
	}
	return e, nil
}
