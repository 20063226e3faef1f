// Package boundary turns what a person chose for a chat into what its code may
// do, and tells it in plain words.
package boundary

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"atoll/sandbox"
	"atoll/sandbox/kernel"
	"atoll/storage"
)

// The presets of a chat.
const (
	Sealed  = "sealed"          // writes to the chat's own folder, no network
	Project = "offline-project" // and to a folder of the person's, what is changed there is asked about
	Network = "network"         // like sealed, with hosts that can be reached by way of a proxy
)

// ErrPolicy means that what was chosen cannot be a boundary; its text says why
// and what to do.
var ErrPolicy = errors.New("this cannot be the boundary of a chat")

// Of returns what was chosen for a chat; the sealed preset when nothing was.
func Of(c storage.Chat) storage.ChatPolicy {
	if c.Policy == nil || c.Policy.Preset == "" {
		return storage.ChatPolicy{Preset: Sealed}
	}
	return *c.Policy
}

// Check returns p without what does not belong to its preset. own is the folder
// of Atoll's own data, which no project may hold or lie in; empty: not looked at.
// Errors: ErrPolicy.
func Check(p storage.ChatPolicy, own string) (storage.ChatPolicy, error) {
	out := storage.ChatPolicy{Preset: p.Preset, GPU: p.GPU}
	switch p.Preset {
	case "", Sealed:
		out.Preset = Sealed
	case Project:
		dir, err := project(p.Project, own)
		if err != nil {
			return out, err
		}
		out.Project = dir
	case Network:
		for _, h := range p.Hosts {
			if h = strings.ToLower(strings.TrimSpace(h)); h != "" && !slices.Contains(out.Hosts, h) {
				out.Hosts = append(out.Hosts, h)
			}
		}
		if err := (sandbox.Policy{Network: network(out)}).Check(); err != nil {
			return out, fmt.Errorf("%w: %w", ErrPolicy, err)
		}
	default:
		return out, fmt.Errorf("%w: there is no preset %q; it is %s, %s or %s", ErrPolicy, p.Preset, Sealed, Project, Network)
	}
	return out, nil
}

// project returns the folder behind all links: what the boundary is built for
// must not become another folder later.
func project(path, own string) (string, error) {
	if path == "" {
		return "", fmt.Errorf("%w: choose the project's folder", ErrPolicy)
	}
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("%w: %q is not a whole path; write it from the root on", ErrPolicy, path)
	}
	dir, err := filepath.EvalSymlinks(filepath.Clean(path))
	if errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("%w: there is no folder %s; make it first, or choose another", ErrPolicy, path)
	}
	if err != nil {
		return "", fmt.Errorf("%w: the folder cannot be opened; choose another: %w", ErrPolicy, err)
	}
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return "", fmt.Errorf("%w: %s is not a folder; choose the folder that it lies in", ErrPolicy, path)
	}
	if err := (sandbox.Policy{Write: []string{dir}}).Check(); err != nil {
		why := strings.TrimPrefix(err.Error(), sandbox.ErrPolicy.Error()+": ")
		return "", fmt.Errorf("%w: %s; choose a folder of your own that holds one project", ErrPolicy, why)
	}
	if own == "" {
		return dir, nil
	}
	if real, err := filepath.EvalSymlinks(own); err == nil {
		own = real
	}
	if within(dir, own) || within(own, dir) {
		return "", fmt.Errorf("%w: Atoll keeps its own data in %s; choose a folder apart from that", ErrPolicy, own)
	}
	return dir, nil
}

// within reports whether path is dir or below it. Both are clean.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

func network(p storage.ChatPolicy) sandbox.Network {
	switch {
	case p.Preset != Network:
		return sandbox.Network{}
	case len(p.Hosts) > 0:
		return sandbox.Network{Mode: sandbox.NetworkHosts, Hosts: p.Hosts}
	default:
		return sandbox.Network{Mode: sandbox.NetworkOn}
	}
}

// Apply sets in o what p allows beyond the chat's own folders. layers is a
// folder of the host's in which writes can be held back; with level, where that
// can be done, the project is never written otherwise: not by a thread either
// that goes on after its run.
func Apply(p storage.ChatPolicy, o *kernel.Options, layers string, level sandbox.Level) {
	o.Network, o.GPU, o.Layers = network(p), p.GPU, layers
	if p.Preset != Project {
		return
	}
	o.Write = append(o.Write, p.Project)
	if layers != "" && HoldsBack(level) {
		o.Held = append(o.Held, p.Project)
	}
}

// HoldsBack reports whether a machine can show the effects of code before they
// are carried out.
func HoldsBack(level sandbox.Level) bool {
	return slices.ContainsFunc(level.Guarantees, func(g sandbox.Guarantee) bool { return g.Name == "effect layers" && g.Holds })
}

// ProjectLink is the name under which code finds the project's folder, beside
// the attached files.
const ProjectLink = "project"
