package archive

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pawl-run/pawl/internal/journals"
)

// The lines of an export that are not entries. The last member of every line but the
// signature is a digest: see [seal].
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
	// exportEnd anchors the log: who keeps it can tell later whether the log was changed.
	exportEnd struct {
		End      uint64 `json:"end"` // how many entries there are
		Run      string `json:"run"`
		Redacted bool   `json:"redacted"`
		Blobs    int    `json:"blobs"`
		Log      string `json:"log"` // the digest of the log at its last entry, before anything was redacted
	}
	exportSignature struct {
		Signature string `json:"signature"` // base64; Ed25519 of the line of the end
	}
)

const exportFormat = 1

// The digest of an entry is that of the log at it; see [journals.Chain]. In a redacted
// export it is that of the redacted log. The digest of another line follows in the same way
// on that of the last entry, but no line follows on it.
const (
	digestOpening = `,"digest":"`
	digestClosing = `"}`
	digestMember  = len(digestOpening) + 2*journals.DigestSize + len(digestClosing)
)

// seal adds a digest to a line, which is a non-empty JSON object.
func seal(line []byte, digest journals.Chain) []byte {
	out := make([]byte, 0, len(line)+digestMember)
	out = append(append(out, line[:len(line)-1]...), digestOpening...)
	return append(hex.AppendEncode(out, digest[:]), digestClosing...)
}

// unseal removes the digest from a line that follows on a chain, and returns it.
func unseal(line []byte, c journals.Chain) (body []byte, next journals.Chain, err error) {
	at := len(line) - digestMember
	if at < 0 || !bytes.HasPrefix(line[at:], []byte(digestOpening)) || !bytes.HasSuffix(line, []byte(digestClosing)) {
		return nil, c, errors.New("it has no digest at its end")
	}
	body = append(bytes.Clone(line[:at]), '}')
	next = c.Next(body)
	if hex.EncodeToString(next[:]) != string(line[at+len(digestOpening):len(line)-len(digestClosing)]) {
		return nil, c, errors.New("its digest is wrong: the line was changed or moved")
	}
	return body, next, nil
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
