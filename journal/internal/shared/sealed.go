package shared

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-run/pawl/journal/seal"
)

// A Box seals what a journal stores with a codec; nil: it stores everything as it is. A text that is not
// sealed, such as one from before there was a codec, is opened as it is.
type Box struct{ Codec seal.Codec }

// mark begins what is sealed. No entry and no body of a signal does, since they are JSON. The length of the
// key's id and the id follow.
const mark = "\x00sealed\x00"

// Seal seals a text. about are the words that say what it is.
func (b Box) Seal(plain []byte, about ...string) ([]byte, error) {
	if b.Codec == nil {
		return plain, nil
	}
	key, sealed, err := b.Codec.Seal(plain, []byte(strings.Join(about, "\x00")))
	if err == nil && len(key) > 255 {
		err = errors.New("the id of the key has more than 255 bytes")
	}
	if err != nil {
		return nil, err
	}
	return slices.Concat([]byte(mark), []byte{byte(len(key))}, []byte(key), sealed), nil
}

// Open opens a text.
func (b Box) Open(stored []byte, about ...string) ([]byte, error) {
	rest, marked := bytes.CutPrefix(stored, []byte(mark))
	if !marked || len(rest) == 0 || len(rest) <= int(rest[0]) {
		return stored, nil
	}
	key, sealed := string(rest[1:1+rest[0]]), rest[1+rest[0]:]
	if b.Codec == nil {
		return nil, &seal.KeyError{ID: key}
	}
	return b.Codec.Open(key, sealed, []byte(strings.Join(about, "\x00")))
}

// OpenBlob opens a blob, which may begin with the mark when it is not sealed.
func (b Box) OpenBlob(stored []byte, digest string) ([]byte, error) {
	if sum := sha256.Sum256(stored); hex.EncodeToString(sum[:]) == digest {
		return stored, nil
	}
	return b.Open(stored, "blob", digest)
}

// About says what a batch of entries is: those of a run up to one.
func About(run string, last int64) []string { return []string{"log", run, strconv.FormatInt(last, 10)} }

// Text is what a search may find a run by: nothing, if texts are sealed.
func (b Box) Text(text string) string {
	if b.Codec == nil || text == "" {
		return text
	}
	return " "
}
