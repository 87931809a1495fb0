// Package approvallink makes the tokens of links to requests for approval from a
// key, so that whoever has the key can make the link to a request and know it
// again, also when the process is gone that asked.
package approvallink

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
)

// KeySize is how many bytes a key has.
const KeySize = 32

// NewKey makes a key.
func NewKey() []byte {
	key := make([]byte, KeySize)
	_, _ = rand.Read(key) // which never fails
	return key
}

// Token is the token of the link to one request: the one for a call of a run that
// was made with the token of that hash, which no other request has. Empty: there is
// no key, or the request has no hash, so that it could not be told from the next.
//
// It is HMAC-SHA-256 (RFC 2104) of the three, each behind its length, cut to 192
// bits. Nothing of the key can be learnt from it.
func Token(key []byte, run, call, hash string) string {
	if len(key) == 0 || hash == "" {
		return ""
	}
	mac := hmac.New(sha256.New, key)
	for _, part := range []string{"pawl approval link 1", run, call, hash} {
		mac.Write(binary.BigEndian.AppendUint32(nil, uint32(len(part))))
		mac.Write([]byte(part))
	}
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:24])
}

// Fits reports whether a token is that of the link to a request.
func Fits(token string, key []byte, run, call, hash string) bool {
	want := Token(key, run, call, hash)
	return want != "" && hmac.Equal([]byte(token), []byte(want))
}
