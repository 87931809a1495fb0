package archive

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// The lines of an export that are not entries.
type (
	exportHead struct {
		Export   int    `json:"export"` // the format
		Run      string `json:"run"`
		Redacted bool   `json:"redacted"`
		Entries  uint64 `json:"entries"`
	}
	exportBlob struct {
		Blob string `json:"blob"` // lower-case hex SHA-256
		Data string `json:"data"` // base64
	}
	exportEnd struct {
		End uint64 `json:"end"` // how many entries there are
	}
)

const exportFormat = 1

// A chain is the sum over everything before a line. The sum of a line is its last member:
// the first half of the SHA-256, in lower-case hexadecimal, of the whole sum of the
// previous line and this line without that member. It detects accidents, not intent: anyone
// who changes a line can compute new sums.
type chain [sha256.Size]byte

const (
	sumOpening = `,"sum":"`
	sumClosing = `"}`
	sumSize    = sha256.Size // half of it, two digits each
	sumMember  = len(sumOpening) + sumSize + len(sumClosing)
)

func (c *chain) sum(line []byte) string {
	h := sha256.New()
	h.Write(c[:])
	h.Write(line)
	h.Sum(c[:0])
	return hex.EncodeToString(c[:sumSize/2])
}

// seal adds its sum to a line, which is a non-empty JSON object.
func (c *chain) seal(line []byte) []byte {
	sum := c.sum(line)
	out := make([]byte, 0, len(line)+sumMember)
	out = append(out, line[:len(line)-1]...)
	return append(append(append(out, sumOpening...), sum...), sumClosing...)
}

var errSum = errors.New("its checksum is wrong: the line was changed or moved")

// open removes the sum from a line. If the sum is wrong, the chain does not change.
func (c *chain) open(line []byte) ([]byte, error) {
	at := len(line) - sumMember
	if at < 0 || !bytes.HasPrefix(line[at:], []byte(sumOpening)) || !bytes.HasSuffix(line, []byte(sumClosing)) {
		return nil, errors.New("it has no checksum at its end")
	}
	body := append(bytes.Clone(line[:at]), '}')
	next := *c
	if next.sum(body) != string(line[at+len(sumOpening):len(line)-len(sumClosing)]) {
		return nil, errSum
	}
	*c = next
	return body, nil
}

// An exporter writes sealed lines until writing fails.
type exporter struct {
	w   io.Writer
	c   chain
	err error
}

func (x *exporter) line(v any) {
	data, err := json.Marshal(v)
	if err != nil && x.err == nil {
		x.err = err
	}
	x.raw(data)
}

func (x *exporter) raw(data []byte) {
	if x.err == nil {
		_, x.err = x.w.Write(append(x.c.seal(data), '\n'))
	}
}

// strictly decodes a line that has the members of v and no others.
func strictly(line []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("it is not a line of an export: %w", err)
	}
	return nil
}
