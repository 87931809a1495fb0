// Package approvallink derives the tokens of links to approval requests from a
// key. A process with the key can create and recognise the link to any request,
// also after the process that asked has ended.
package approvallink

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
)

// KeySize is the length of a key in bytes.
const KeySize = 32

// NewKey returns a random key.
func NewKey() []byte {
	key := make([]byte, KeySize)
	_, _ = rand.Read(key) // never fails
	return key
}

// Token returns the token of the link to one request: a call of a run, and the
// hash of the request's own token, which is unique. It is empty if there is no
// key, or the request has no hash, which would make requests indistinguishable.
//
// It is HMAC-SHA-256 (RFC 2104) of the three, each preceded by its length,
// truncated to 192 bits. It reveals nothing about the key.
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

// Fits reports whether a token belongs to the link to a request.
func Fits(token string, key []byte, run, call, hash string) bool {
	want := Token(key, run, call, hash)
	return want != "" && hmac.Equal([]byte(token), []byte(want))
}
