package kernel

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/png"
	"strings"
	"testing"
)

func TestReadEvents(t *testing.T) {
	in := `{"t":"out","s":1,"x":"a"}` + "\nnot json\n[1]\n" + `{"t":"out","x":"` + strings.Repeat("z", maxLine) + `"}` + "\n" +
		`{"t":"done","s":2,"k":"token"}` + "\n" + `{"t":"out","x":"cut`
	var got []event
	readEvents(strings.NewReader(in), func(e event) bool { got = append(got, e); return true })
	if len(got) != 3 || got[0].Text != "a" || !strings.Contains(got[1].Text, "too large") || got[2].Token != "token" {
		t.Errorf("got %d events: %.300v", len(got), got)
	}
}

// header is a PNG that claims a size and has nothing else.
func header(w, h uint32) string {
	chunk := append([]byte("IHDR"), binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, w), h)...)
	chunk = append(chunk, 8, 2, 0, 0, 0)
	b := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"), chunk...)
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(chunk))
	return base64.StdEncoding.EncodeToString(b)
}

func TestOutput(t *testing.T) {
	var b bytes.Buffer
	png.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 2)))
	good := base64.StdEncoding.EncodeToString(b.Bytes())
	table := `{"columns":["a"],"types":["int64"],"index":[0],"rows":[[1]],"shape":[1,1]}`
	for _, c := range []struct {
		name, mime, data string
		ok               bool
	}{
		{"png", "image/png", good, true},
		{"no png", "image/png", base64.StdEncoding.EncodeToString([]byte("<svg onload=alert(1)>")), false},
		{"no base64", "image/png", "%%%", false},
		{"bomb", "image/png", header(60000, 60000), false},
		{"too large", "image/png", base64.StdEncoding.EncodeToString(append(b.Bytes(), make([]byte, maxPNG)...)), false},
		{"table", TableMIME, table, true},
		{"no table", TableMIME, `"x"`, false},
		{"rows that do not fit", TableMIME, strings.Replace(table, "[[1]]", "[[1,2]]", 1), false},
		{"index that does not fit", TableMIME, strings.Replace(table, `"index":[0]`, `"index":[]`, 1), false},
		{"nested cell", TableMIME, strings.Replace(table, "[[1]]", `[[{"a":1}]]`, 1), false},
		{"too many rows", TableMIME, `{"columns":[],"types":[],"index":[` + strings.Repeat("0,", 300) + `0],"rows":[` + strings.Repeat("[],", 300) + `[]],"shape":[301,0]}`, false},
	} {
		o, err := output(map[string]string{"text/plain": "t", c.mime: c.data, "text/html": "<script>"})
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if _, ok := o.Data[c.mime]; ok != c.ok {
			t.Errorf("%s: passed on: %t", c.name, ok)
		}
		if o.Data["text/html"] != nil {
			t.Errorf("%s: an unknown type is passed on", c.name)
		}
	}
}
