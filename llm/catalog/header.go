package catalog

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"os"
)

// Bounds of what a model file may claim, far above any real one: a hostile or
// random header must cost neither memory nor time.
const (
	mostTensors = 1 << 20
	mostPairs   = 1 << 20
	mostText    = 64 << 20 // bytes of one string
	mostNesting = 4
)

var errHeader = errors.New("the header makes no sense")

// blockSizes holds, by tensor type, how many values a block has and how many
// bytes it takes. A type that is not here counts as 0 bytes, so that leastSize
// stays a lower bound.
// Source: https://github.com/ggml-org/llama.cpp/blob/master/gguf-py/gguf/constants.py
var blockSizes = map[uint32][2]uint64{
	0: {1, 4}, 1: {1, 2}, 2: {32, 18}, 3: {32, 20}, 6: {32, 22}, 7: {32, 24}, 8: {32, 34}, 9: {32, 40},
	10: {256, 84}, 11: {256, 110}, 12: {256, 144}, 13: {256, 176}, 14: {256, 210}, 15: {256, 292},
	16: {256, 66}, 17: {256, 74}, 18: {256, 98}, 19: {256, 50}, 20: {32, 18}, 21: {256, 110}, 22: {256, 82}, 23: {256, 136},
	24: {1, 1}, 25: {1, 2}, 26: {1, 4}, 27: {1, 8}, 28: {1, 8}, 29: {256, 56}, 30: {1, 2}, 34: {256, 54}, 35: {256, 66}, 39: {32, 17},
}

// valueSizes holds the bytes of a metadata value by its type; 8 is a string
// and 9 an array.
var valueSizes = map[uint32]int64{0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}

// leastSize reads the header of a model file and returns how many bytes the
// file must have for all of its tensors. It returns io.ErrUnexpectedEOF when
// the file ends within the header and errHeader when the header is nonsense.
// Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
func leastSize(path string) (uint64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	h := &header{r: bufio.NewReaderSize(f, 256<<10), align: 32}
	if string(h.bytes(4)) != magic {
		return 0, errors.Join(h.err, fmt.Errorf("%w: it does not begin with %s", errHeader, magic))
	}
	if v := h.u32(); v != 2 && v != 3 {
		h.fail("version")
	}
	tensors, pairs := h.u64(), h.u64()
	if tensors > mostTensors || pairs > mostPairs {
		h.fail("counts")
	}
	for i := uint64(0); i < pairs && h.err == nil; i++ {
		h.pair()
	}
	var end uint64
	for i := uint64(0); i < tensors && h.err == nil; i++ {
		end = max(end, h.tensor())
	}
	if h.err != nil {
		return 0, h.err
	}
	start := (h.read + h.align - 1) / h.align * h.align
	return start + end, nil
}

// header reads forward and keeps the first error.
type header struct {
	r     *bufio.Reader
	read  uint64
	align uint64
	err   error
}

func (h *header) fail(what string) {
	if h.err == nil {
		h.err = fmt.Errorf("%w: %s", errHeader, what)
	}
}

func (h *header) bytes(n int) []byte {
	b := make([]byte, n)
	if h.err == nil {
		_, h.err = io.ReadFull(h.r, b)
		if h.err == io.EOF {
			h.err = io.ErrUnexpectedEOF
		}
		h.read += uint64(n)
	}
	return b
}

func (h *header) skip(n uint64) {
	if n > mostText {
		h.fail("length")
	}
	if h.err == nil {
		_, h.err = h.r.Discard(int(n))
		if h.err == io.EOF {
			h.err = io.ErrUnexpectedEOF
		}
		h.read += n
	}
}

func (h *header) u32() uint32 { return binary.LittleEndian.Uint32(h.bytes(4)) }
func (h *header) u64() uint64 { return binary.LittleEndian.Uint64(h.bytes(8)) }

// pair skips one metadata pair, keeping the alignment.
func (h *header) pair() {
	n := h.u64()
	if n > 64<<10 {
		h.fail("key")
		return
	}
	key := string(h.bytes(int(n)))
	typ := h.u32()
	if key == "general.alignment" && typ == 4 {
		h.align = uint64(h.u32())
		if h.align == 0 || h.align > 1<<20 {
			h.fail("alignment")
		}
		return
	}
	h.value(typ, 0)
}

func (h *header) value(typ uint32, depth int) {
	switch n, plain := valueSizes[typ]; {
	case h.err != nil:
	case plain:
		h.skip(uint64(n))
	case typ == 8:
		h.skip(h.u64())
	case typ == 9 && depth < mostNesting:
		of, count := h.u32(), h.u64()
		if size, plain := valueSizes[of]; plain {
			if count > mostText {
				h.fail("array")
				return
			}
			h.skip(count * uint64(size))
			return
		}
		for i := uint64(0); i < count && h.err == nil; i++ {
			h.value(of, depth+1)
		}
	default:
		h.fail("value type")
	}
}

// tensor reads one tensor's description and returns where its data ends,
// counted from the start of all data.
func (h *header) tensor() uint64 {
	h.skip(h.u64())
	dims := h.u32()
	if dims > 8 {
		h.fail("dimensions")
		return 0
	}
	values := uint64(1)
	for range dims {
		over, n := bits.Mul64(values, h.u64())
		if over != 0 || n > 1<<50 {
			h.fail("tensor size")
		}
		values = n
	}
	typ, offset := h.u32(), h.u64()
	if offset > 1<<50 {
		h.fail("tensor offset")
	}
	block, known := blockSizes[typ]
	if h.err != nil || !known {
		return offset
	}
	return offset + (values+block[0]-1)/block[0]*block[1]
}
