package worker

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"atoll/llm/engine/wire"
)

// checkFile refuses, with a sentence for people, what can be seen to be no
// model without the library. It returns the size of the file in bytes.
func checkFile(path string) (int64, error) {
	name := filepath.Base(path)
	f, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, fail(wire.KindModel, "there is no file %s any more: it was moved or deleted, or its disk is not connected", path)
	case errors.Is(err, fs.ErrPermission):
		return 0, fail(wire.KindModel, "%s may not be read: change its permissions or choose another model", path)
	case err != nil:
		return 0, fail(wire.KindModel, "%s cannot be opened: %v", name, err)
	}
	defer f.Close() // read only: nothing is lost
	st, err := f.Stat()
	if err != nil {
		return 0, fail(wire.KindModel, "%s cannot be read: %v", name, err)
	}
	if !st.Mode().IsRegular() {
		return 0, fail(wire.KindModel, "%s is not a file but a %s", path, kindOf(st.Mode()))
	}
	head := make([]byte, 1024)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return 0, fail(wire.KindModel, "%s cannot be read: %v", name, err)
	}
	return st.Size(), checkHead(name, head[:n])
}

func kindOf(m fs.FileMode) string {
	if m.IsDir() {
		return "folder"
	}
	return "device or pipe"
}

var splitName = regexp.MustCompile(`-\d{5}-of-(\d{5})\.gguf$`)

// checkHead judges the first kilobyte of a file. The format is described in
// ggml's docs/gguf.md: magic, version, number of tensors, number of keys.
func checkHead(name string, head []byte) error {
	const again = "; download it again"
	switch {
	case len(head) == 0:
		return fail(wire.KindModel, "%s is empty: its download did not finish%s", name, again)
	case looksLikeHTML(head):
		return fail(wire.KindModel, "%s is a web page, not a model: the download got an error or login page%s", name, again)
	case bytes.HasPrefix(head, []byte("version https://git-lfs")):
		return fail(wire.KindModel, "%s is a pointer to a model (Git LFS), not the model%s", name, again)
	case bytes.HasPrefix(head, []byte("GGUF")) && len(head) < 24:
		return fail(wire.KindModel, "%s is cut off after %d bytes: its download did not finish%s", name, len(head), again)
	case !bytes.HasPrefix(head, []byte("GGUF")):
		return fail(wire.KindModel, "%s is not a GGUF file: it does not begin like one; only models in the GGUF format can be used", name)
	}
	switch version := binary.LittleEndian.Uint32(head[4:]); {
	case version == 0 || version&0xffff == 0:
		return fail(wire.KindModel, "%s is for machines with another byte order; choose a file for this one", name)
	case version == 1 || version > 3:
		return fail(wire.KindModel, "%s has version %d of the GGUF format, and versions 2 and 3 can be read; choose a newer file of the model", name, version)
	}
	if m := splitName.FindStringSubmatch(name); m != nil && m[1] != "00001" {
		return fail(wire.KindModel, "%s is one of %s parts of a model: parts cannot be used alone; join them with llama-gguf-split --merge", name, strings.TrimLeft(m[1], "0"))
	}
	return nil
}

func looksLikeHTML(head []byte) bool {
	s := strings.ToLower(string(bytes.TrimLeft(head, " \t\r\n\xef\xbb\xbf")))
	return strings.HasPrefix(s, "<!doctype html") || strings.HasPrefix(s, "<html") || strings.HasPrefix(s, "<head") || strings.HasPrefix(s, "<?xml")
}

var (
	unknownArch = regexp.MustCompile(`unknown model architecture: '([^']*)'`)
	// Prefixes of the library's lines: the function that speaks.
	speaker = regexp.MustCompile(`^[[:word:]]+:\s*(error loading model:\s*)?`)
)

// explain turns what the library said while it refused a file into a sentence.
func explain(path string, complaints []string) error {
	name, all := filepath.Base(path), strings.Join(complaints, "\n")
	switch {
	case unknownArch.MatchString(all):
		return fail(wire.KindModel, "%s is a model of a kind (%s) that this version cannot run; choose another model or update Atoll", name, unknownArch.FindStringSubmatch(all)[1])
	case strings.Contains(all, "is not within the file bounds"), strings.Contains(all, "unexpectedly reached end of file"),
		strings.Contains(all, "failed to read tensor"), strings.Contains(all, "tensor data is incomplete"):
		return fail(wire.KindModel, "%s is incomplete: its end is missing because a download or copy did not finish; download it again", name)
	case strings.Contains(all, "illegal split file"), strings.Contains(all, "invalid split"), strings.Contains(all, "split.count"):
		return fail(wire.KindModel, "%s is one part of a model in several files: parts cannot be used alone; join them with llama-gguf-split --merge", name)
	case strings.Contains(all, "unable to allocate"), strings.Contains(all, "failed to allocate"):
		return fail(wire.KindMemory, "there is not enough memory to load %s: close other programs or choose a smaller model", name)
	}
	detail := "no reason was given"
	for _, line := range complaints {
		if l := speaker.ReplaceAllString(line, ""); l != "" && !strings.HasPrefix(l, "failed to load model") {
			detail = l
			break
		}
	}
	return fail(wire.KindModel, "%s is damaged or is not a language model (%s); download it again or choose another", name, detail)
}
