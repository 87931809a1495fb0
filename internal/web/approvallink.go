package web

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
)

// LinkKeySize is the length of a key in bytes.
const LinkKeySize = 32

// NewLinkKey returns a random key.
func NewLinkKey() []byte {
	key := make([]byte, LinkKeySize)
	_, _ = rand.Read(key) // never fails
	return key
}

// LinkToken returns the token of the link to one request: a call of a run, and the
// hash of the request's own token, which is unique. It is empty if there is no
// key, or the request has no hash, which would make requests indistinguishable.
//
// It is HMAC-SHA-256 (RFC 2104) of the three, each preceded by its length,
// truncated to 192 bits. It reveals nothing about the key.
func LinkToken(key []byte, run, call, hash string) string {
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

// LinkFits reports whether a token belongs to the link to a request.
func LinkFits(token string, key []byte, run, call, hash string) bool {
	want := LinkToken(key, run, call, hash)
	return want != "" && hmac.Equal([]byte(token), []byte(want))
}
