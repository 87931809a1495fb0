package media

import (
	"bytes"
	"compress/zlib"
	"io"
	"regexp"
)

var (
	page   = regexp.MustCompile(`/Type\s*/Page\b`)
	packed = regexp.MustCompile(`/ObjStm\b[^>]*>>\s*stream\r?\n`)
)

// Bounds of what is unpacked of a document, and what a page without a mark is taken for.
const (
	mostUnpacked = 32 << 20
	pageBytes    = 50_000
)

// pages counts the pages of a PDF by the marks of their objects, which newer files have in
// packed streams. A document that shows none has a page for every 50 kB.
func pages(data []byte) int {
	n := len(page.FindAllIndex(data, -1))
	left := int64(mostUnpacked)
	for _, at := range packed.FindAllIndex(data, -1) {
		r, err := zlib.NewReader(bytes.NewReader(data[at[1]:]))
		if err != nil {
			continue // packed otherwise, or encrypted
		}
		objects, _ := io.ReadAll(io.LimitReader(r, left)) // a torn stream counts as far as it goes
		left -= int64(len(objects))
		n += len(page.FindAllIndex(objects, -1))
	}
	if n == 0 {
		n = len(data)/pageBytes + 1
	}
	return n
}
