package preview

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// notebookQuotes is how many first lines of cells a card shows.
const notebookQuotes = 8

// notebookText is a text that a notebook may hold as one string or as lines.
type notebookText string

func (t *notebookText) UnmarshalJSON(b []byte) error {
	var lines []string
	if len(b) > 0 && b[0] == '[' {
		err := json.Unmarshal(b, &lines)
		*t = notebookText(strings.Join(lines, ""))
		return err
	}
	return json.Unmarshal(b, (*string)(t))
}

// notebook makes the card of a Jupyter notebook; false when it is none.
func (c *Card) notebook(ctx context.Context, s source, cs charset) (bool, error) {
	if s.size > 4*jsonWhole {
		return false, nil
	}
	b, err := io.ReadAll(utf8Reader(s, cs, 4*jsonWhole))
	if err != nil {
		return false, err
	}
	var n struct {
		Cells []struct {
			Kind    string       `json:"cell_type"`
			Source  notebookText `json:"source"`
			Outputs []struct {
				Kind string          `json:"output_type"`
				Data json.RawMessage `json:"data"`
			} `json:"outputs"`
		} `json:"cells"`
		Metadata struct {
			Kernel struct {
				Language string `json:"language"`
				Name     string `json:"name"`
			} `json:"kernelspec"`
			Language struct {
				Name string `json:"name"`
			} `json:"language_info"`
		} `json:"metadata"`
		Format int `json:"nbformat"`
	}
	if json.Unmarshal(b, &n) != nil || n.Cells == nil {
		return false, ctx.Err()
	}
	c.Kind, c.Rows, c.RowsExact = Notebook, int64(len(n.Cells)), true
	kinds := map[string]int{}
	outputs, faults, size := int64(0), int64(0), int64(0)
	for i, cell := range n.Cells {
		kinds[clip(cell.Kind, 20)]++
		for _, o := range cell.Outputs {
			outputs++
			size += int64(len(o.Data))
			if o.Kind == "error" {
				faults++
			}
		}
		text := strings.TrimSpace(string(cell.Source))
		c.suspectText([]byte(clip(text, 10_000)), int64(i+1))
		if text != "" && len(c.Quotes) < notebookQuotes {
			line, _, _ := strings.Cut(text, "\n")
			c.Quotes = append(c.Quotes, fmt.Sprintf("cell %d: %s", i+1, shown(line, 100)))
		}
	}
	language := n.Metadata.Language.Name
	if language == "" {
		language = n.Metadata.Kernel.Language
	}
	if language != "" {
		c.Detail = append(c.Detail, "language "+shown(language, 30))
	}
	c.Detail = append(c.Detail, "cells: "+strings.Join(ranked(kinds, 5, func(s string, k int) string { return fmt.Sprintf("%d %s", k, shown(s, 20)) }), ", "))
	if outputs > 0 {
		c.Detail = append(c.Detail, fmt.Sprintf("%s, %s of data", count(outputs, "stored output"), sizeText(size)))
	}
	if faults > 0 {
		c.problem("%s ended in an error when it was last run", count(faults, "cell"))
	}
	return true, nil
}
