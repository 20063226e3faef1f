package preview

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	_ "image/gif"  // size of pictures
	_ "image/jpeg" // size of pictures
	_ "image/png"  // size of pictures
	"io"
	"strings"
)

// imageHead is how much of a picture is looked at.
const imageHead = 4 << 20

// picture makes the card of an image: format, size, and of what the camera
// noted only what matters for the work. Where it was taken is not for a prompt:
// the card says only that the picture knows it.
func (c *Card) picture(s source, head []byte) bool {
	starts := func(sig string) bool { return bytes.HasPrefix(head, []byte(sig)) }
	format, w, h := "", 0, 0
	exif := []byte(nil)
	switch {
	case starts("\x89PNG\r\n\x1a\n"), starts("\xff\xd8\xff"), starts("GIF87a"), starts("GIF89a"):
		c.Kind = Image
		conf, name, err := image.DecodeConfig(io.NewSectionReader(s.r, 0, min(s.size, imageHead)))
		if err != nil {
			c.problem("the picture is damaged")
			return true
		}
		format, w, h = strings.ToUpper(name), conf.Width, conf.Height
		if name == "jpeg" {
			exif = jpegExif(s)
		}
	case starts("RIFF") && len(head) > 30 && string(head[8:12]) == "WEBP":
		format = "WebP"
		w, h = webpSize(head)
		if i := bytes.Index(head, []byte("EXIF")); i > 0 && i+8 < len(head) {
			exif = head[i+8:]
		}
	case starts("II*\x00"), starts("MM\x00*"):
		format, exif = "TIFF", head
	case starts("BM") && len(head) > 26 && bytes.IndexByte(head[:26], 0) > 0:
		format = "BMP"
		w, h = int(int32(binary.LittleEndian.Uint32(head[18:]))), int(int32(binary.LittleEndian.Uint32(head[22:])))
		h = max(h, -h)
	case len(head) > 12 && string(head[4:8]) == "ftyp" && (string(head[8:12]) == "heic" || string(head[8:12]) == "avif" || string(head[8:12]) == "mif1"):
		format = strings.ToUpper(string(head[8:12]))
	default:
		return false
	}
	c.Kind = Image
	x := readExif(exif)
	if w == 0 && h == 0 {
		w, h = x.width, x.height
	}
	if w > 0 && h > 0 && w < 1<<24 && h < 1<<24 {
		c.Detail = append(c.Detail, fmt.Sprintf("%s picture, %d x %d pixels", format, w, h))
		if int64(w)*int64(h) > 200e6 {
			c.warn("the picture has %d million points; opened, it may fill the memory", int64(w)*int64(h)/1e6)
		}
	} else {
		c.Detail = append(c.Detail, format+" picture")
	}
	if x.taken != "" {
		c.Quotes = append(c.Quotes, "taken "+shown(x.taken, 30))
	}
	if x.camera != "" {
		c.Quotes = append(c.Quotes, "camera "+shown(x.camera, 60))
	}
	if x.orientation > 1 && x.orientation <= 8 {
		c.problem("the picture is stored turned (EXIF orientation %d); use PIL.ImageOps.exif_transpose", x.orientation)
	}
	if x.located {
		c.problem("the picture has a location (GPS) in it")
	}
	return true
}

// jpegExif is the TIFF structure inside a JPEG's first segments.
func jpegExif(s source) []byte {
	b, err := s.at(0, 256<<10)
	if err != nil {
		return nil
	}
	for i := 2; i+4 <= len(b) && b[i] == 0xff; {
		mark, n := b[i+1], int(binary.BigEndian.Uint16(b[i+2:]))
		if mark == 0xda || n < 2 {
			return nil
		}
		if end := min(len(b), i+2+n); mark == 0xe1 && end > i+10 && string(b[i+4:i+10]) == "Exif\x00\x00" {
			return b[i+10 : end]
		}
		i += 2 + n
	}
	return nil
}

func webpSize(b []byte) (w, h int) {
	switch string(b[12:16]) {
	case "VP8X":
		return 1 + int(b[24]) + int(b[25])<<8 + int(b[26])<<16, 1 + int(b[27]) + int(b[28])<<8 + int(b[29])<<16
	case "VP8 ":
		return int(binary.LittleEndian.Uint16(b[26:])) & 0x3fff, int(binary.LittleEndian.Uint16(b[28:])) & 0x3fff
	case "VP8L":
		v := binary.LittleEndian.Uint32(b[21:])
		return 1 + int(v&0x3fff), 1 + int(v>>14&0x3fff)
	}
	return 0, 0
}

// exifFacts is what a card takes of a picture's TIFF directories.
type exifFacts struct {
	width, height int
	orientation   int
	taken, camera string
	located       bool
}

// readExif reads the first directory and the two below it that matter.
func readExif(b []byte) (x exifFacts) {
	if len(b) < 8 {
		return x
	}
	var order binary.ByteOrder = binary.LittleEndian
	if string(b[:2]) == "MM" {
		order = binary.BigEndian
	}
	var brand, model string
	directory := func(at uint32, entry func(tag, kind uint16, n uint32, value []byte)) {
		if int64(at)+2 > int64(len(b)) {
			return
		}
		n := int(order.Uint16(b[at:]))
		for i := range min(n, 200) {
			e := int64(at) + 2 + 12*int64(i)
			if e+12 > int64(len(b)) {
				return
			}
			entry(order.Uint16(b[e:]), order.Uint16(b[e+2:]), order.Uint32(b[e+4:]), b[e+8:e+12])
		}
	}
	integer := func(kind uint16, v []byte) int {
		if kind == 3 {
			return int(order.Uint16(v))
		}
		return int(order.Uint32(v))
	}
	text := func(kind uint16, n uint32, v []byte) string {
		if kind != 2 || n > 200 {
			return ""
		}
		if n > 4 {
			at := int64(order.Uint32(v))
			if at+int64(n) > int64(len(b)) {
				return ""
			}
			v = b[at : at+int64(n)]
		} else {
			v = v[:n]
		}
		return strings.ToValidUTF8(strings.TrimSpace(strings.TrimRight(string(v), "\x00")), "\uFFFD")
	}
	directory(order.Uint32(b[4:]), func(tag, kind uint16, n uint32, v []byte) {
		switch tag {
		case 0x100:
			x.width = integer(kind, v)
		case 0x101:
			x.height = integer(kind, v)
		case 0x10f:
			brand = text(kind, n, v)
		case 0x110:
			model = text(kind, n, v)
		case 0x112:
			x.orientation = integer(kind, v)
		case 0x132:
			if x.taken == "" {
				x.taken = text(kind, n, v)
			}
		case 0x8769:
			directory(order.Uint32(v), func(tag, kind uint16, n uint32, v []byte) {
				if tag == 0x9003 {
					x.taken = text(kind, n, v)
				}
			})
		case 0x8825:
			directory(order.Uint32(v), func(tag, _ uint16, _ uint32, _ []byte) { x.located = x.located || tag == 2 })
		}
	})
	if model != "" && !strings.HasPrefix(model, brand) {
		model = strings.TrimSpace(brand + " " + model)
	}
	x.camera = model
	return x
}
