package kernel

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A clue is the question that hint answers.
type clue struct {
	Exception
	bases []string
	line  string // the source line that failed
	code  string
	facts facts
}

func (c clue) is(name string) bool { return c.Name == name || slices.Contains(c.bases, name) }

func (c clue) says(parts ...string) bool {
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(c.Message, p) })
}

// hint says what a writer of the code, above all a small model, needs to know
// to correct it: the names there are, the nearest one, the usual way out. It
// is empty when there is nothing to say. bases are the names of the
// exception's base classes.
func hint(x Exception, bases []string, code string, f facts) string {
	c := clue{Exception: x, bases: bases, code: code, facts: f}
	if lines := strings.Split(code, "\n"); x.Line >= 1 && x.Line <= len(lines) {
		c.line = strings.TrimSpace(lines[x.Line-1])
	}
	for _, rule := range []func(clue) string{
		syntaxHint, inputHint, displayHint, networkHint, moduleHint, nameHint, encodingHint, parserHint, fileHint,
		keyHint, attributeHint, dateHint, numberHint, frameHint, exitHint, memoryHint,
	} {
		if h := rule(c); h != "" {
			return clip(h, 1800)
		}
	}
	return ""
}

// frames lists the data frames that the failing line names first.
func (c clue) frames() []frame {
	fs := slices.Clone(c.facts.Frames)
	slices.SortStableFunc(fs, func(a, b frame) int { return c.distance(a.Name) - c.distance(b.Name) })
	return fs
}

func (c clue) distance(name string) int {
	switch {
	case mentions(c.line, name):
		return 0
	case mentions(c.code, name):
		return 1
	}
	return 2
}

// mentions reports whether name stands in code as a word of its own.
func mentions(code, name string) bool {
	for from := 0; name != ""; {
		i := strings.Index(code[from:], name)
		if i < 0 {
			return false
		}
		i += from
		from = i + len(name)
		if (i == 0 || !isWord(code[i-1])) && (from == len(code) || !isWord(code[from])) {
			return true
		}
	}
	return false
}

func isWord(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80
}

func syntaxHint(c clue) string {
	if !c.is("SyntaxError") {
		return ""
	}
	switch {
	case strings.HasPrefix(c.line, "!"), strings.HasPrefix(c.line, "%"):
		s := fmt.Sprintf("Line %d is a notebook command. This is plain Python: leave out lines that start with ! or %%.", c.Line)
		if strings.Contains(c.line, "install") {
			s += " Nothing can be installed, there is no network; use the libraries that are there."
		}
		return s
	case strings.HasPrefix(c.line, "pip install"):
		return "Nothing can be installed, there is no network; use the libraries that are there."
	case strings.Contains(c.code, "```"):
		return "The code holds ``` fences. Give only the Python code, without Markdown."
	case strings.ContainsAny(c.line, "“”‘’"):
		return `The line has typographic quotes. Use the plain quotes ' and ".`
	case c.says("unterminated string", "EOL while scanning", "unexpected EOF", "was never closed"):
		return "The code ends too early or a quote or bracket is not closed. Send the complete code again."
	}
	return ""
}

func inputHint(c clue) string {
	if c.Name == "EOFError" && c.says("no input can be typed") {
		return "Nobody can type here: input() never works. Put the value into the code as a variable, or ask the user in the chat."
	}
	return ""
}

func displayHint(c clue) string {
	if c.Name == "TclError" || c.says("no display name", "there is no display", "could not connect to display", "couldn't connect to display") {
		return "There is no display, so windows (tkinter, Qt, pygame, turtle) cannot be opened. Show results with print, display(df) or matplotlib figures."
	}
	return ""
}

func networkHint(c clue) string {
	net := c.is("URLError") || c.Name == "gaierror" || c.is("ConnectionError") && !c.is("BrokenPipeError") ||
		c.Name == "ConnectTimeout" || c.Name == "MaxRetryError" || c.Name == "NewConnectionError" || c.says("Network is unreachable", "Name or service not known", "name resolution")
	if net && !c.is("ProcessLookupError") {
		return "There is no network here, on purpose. Use only files of the working folder; if data is missing, ask the user for the file."
	}
	return ""
}

func moduleHint(c clue) string {
	if c.is("ImportError") && !c.is("ModuleNotFoundError") && c.Name != "ModuleNotFoundError" {
		if c.says("Missing optional dependency") {
			return installed(c)
		}
		return ""
	}
	if c.Name != "ModuleNotFoundError" {
		return ""
	}
	return installed(c)
}

func installed(c clue) string {
	name, _, _ := strings.Cut(c.facts.Name, ".")
	s := "There is no network, nothing can be installed."
	if len(c.facts.Modules) > 0 {
		s += " Available besides the standard library: " + strings.Join(c.facts.Modules, ", ") + "."
	}
	instead := map[string]string{
		"seaborn": "matplotlib", "plotly": "matplotlib", "altair": "matplotlib", "bokeh": "matplotlib",
		"polars": "pandas", "dask": "duckdb", "statsmodels": "scipy.stats or sklearn", "xlsxwriter": "openpyxl",
		"requests": "files that the user gives", "cv2": "PIL", "PyPDF2": "pypdf", "fitz": "pypdf", "pdfplumber": "pypdf",
	}
	if use := instead[name]; use != "" {
		first, _, _ := strings.Cut(use, ".")
		first, _, _ = strings.Cut(first, " ")
		if slices.Contains(c.facts.Modules, first) || first == "files" {
			s += " Instead of " + name + " use " + use + "."
		}
	} else if n := nearest(name, c.facts.Modules); n != "" {
		s += " Did you mean " + n + "?"
	}
	return s
}

var quotedName = regexp.MustCompile(`'([^']+)'`)

func nameHint(c clue) string {
	if !c.is("NameError") && c.Name != "UnboundLocalError" {
		return ""
	}
	name := c.facts.Name
	if m := quotedName.FindStringSubmatch(c.Message); name == "" && m != nil {
		name = m[1]
	}
	imports := map[string]string{
		"pd": "import pandas as pd", "np": "import numpy as np", "plt": "import matplotlib.pyplot as plt",
		"sns": "seaborn is not available, use matplotlib", "os": "import os", "re": "import re", "json": "import json", "math": "import math",
		"datetime": "from datetime import datetime", "timedelta": "from datetime import timedelta", "Path": "from pathlib import Path",
		"Counter": "from collections import Counter", "defaultdict": "from collections import defaultdict", "csv": "import csv", "sys": "import sys",
		"null": "use None instead of null", "true": "use True instead of true", "false": "use False instead of false", "nan": "use float('nan') or np.nan",
	}
	if s := imports[name]; s != "" {
		if strings.HasPrefix(s, "import") || strings.HasPrefix(s, "from") {
			return "It is not imported. Add the line: " + s
		}
		return strings.ToUpper(s[:1]) + s[1:] + "."
	}
	if c.Name == "UnboundLocalError" {
		return ""
	}
	if len(c.facts.Names) == 0 {
		return "No variables are defined yet: define " + quote(name) + " first, in the same code or in an earlier run."
	}
	names := c.facts.Names
	more := ""
	if len(names) > 40 {
		names, more = names[len(names)-40:], "..., "
	}
	s := "Defined so far: " + more + strings.Join(names, ", ") + "."
	if n := nearest(name, c.facts.Names); n != "" {
		s += " Did you mean " + n + "?"
	}
	return s
}

func exitHint(c clue) string {
	if c.Name == "SystemExit" {
		return "The code called exit(). Python goes on and keeps its variables; leave the call out."
	}
	return ""
}

// bytesText writes a limit of memory as people do.
func bytesText(n int64) string {
	if n >= 1<<30 {
		return strconv.FormatFloat(float64(n*10>>30)/10, 'f', -1, 64) + " GiB"
	}
	return strconv.FormatInt(n>>20, 10) + " MiB"
}

func memoryHint(c clue) string {
	switch {
	case c.is("MemoryError"):
		limit := "The memory limit"
		if m := c.facts.Memory; m > 0 {
			limit += " of " + bytesText(m)
		}
		return limit + " was reached. All variables together, and what an operation makes on the way, must fit into it; del frees what is no longer needed. Read only the columns that are needed (usecols), read in parts (chunksize), or use duckdb on the file."
	case c.is("RecursionError"):
		return "The function calls itself without an end. Use a loop, or check the condition that ends it."
	}
	return ""
}
