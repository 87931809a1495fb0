// Package seal encrypts what journals store: entries, signals, blobs and permissions. Ids, heads (agent,
// status, labels, thread, figures and times) and digests stay readable, so that lists, queues and
// budgets need no key. A search finds runs by id and agent only.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"fmt"
)

// A Codec seals and opens texts. It is safe for concurrent use. about says what a text is, and Open
// fails unless it gets the same about, so that stored texts cannot change places.
type Codec interface {
	// Seal returns the id of the key that it used, of at most 255 bytes, and the sealed text.
	Seal(plain, about []byte) (key string, sealed []byte, err error)
	// Open opens a text that a key sealed. The error is a *[KeyError] if it does not have the key.
	Open(key string, sealed, about []byte) ([]byte, error)
}

// A KeyError says that a key is missing or is another one.
type KeyError struct {
	ID    string
	Wrong bool // there is a key of that id, and it does not open the text
}

// Error names the key.
func (e *KeyError) Error() string {
	if e.Wrong {
		return fmt.Sprintf("the key %s does not open it: the key is another one, or the text was changed", e.ID)
	}
	return fmt.Sprintf("it is sealed with the key %s, which is not given", e.ID)
}

// A Key is a key of AES-256, under an id that is stored beside every text it seals.
type Key struct {
	ID     string // 1 to 64 bytes
	Secret []byte // 32 bytes
}

// Keys is a [Codec] that seals with AES-256-GCM and a random nonce of 96 bits. A key should seal at
// most 2^32 texts (NIST SP 800-38D, 8.3).
type Keys struct {
	current string
	ciphers map[string]cipher.AEAD
}

// NewKeys returns a Codec that seals with the first key, and opens what any of them has sealed. So a
// new key is put in front, and an old one stays until nothing that it sealed is left.
func NewKeys(keys ...Key) (*Keys, error) {
	if len(keys) == 0 {
		return nil, errors.New("seal: there is no key")
	}
	k := &Keys{keys[0].ID, map[string]cipher.AEAD{}}
	for _, key := range keys {
		if key.ID == "" || len(key.ID) > 64 || k.ciphers[key.ID] != nil {
			return nil, fmt.Errorf("seal: the id of a key is %q; use 1 to 64 bytes, and each id once", key.ID)
		}
		if len(key.Secret) != 32 {
			return nil, fmt.Errorf("seal: the key %s has %d bytes; use 32 random ones", key.ID, len(key.Secret))
		}
		block, err := aes.NewCipher(key.Secret)
		if err != nil {
			return nil, fmt.Errorf("seal: the key %s: %w", key.ID, err)
		}
		if k.ciphers[key.ID], err = cipher.NewGCMWithRandomNonce(block); err != nil {
			return nil, fmt.Errorf("seal: the key %s: %w", key.ID, err)
		}
	}
	return k, nil
}

// Seal seals with the first key.
func (k *Keys) Seal(plain, about []byte) (key string, sealed []byte, err error) {
	return k.current, k.ciphers[k.current].Seal(nil, nil, plain, about), nil //nolint:gosec // the cipher makes the nonce
}

// Open opens with the key of that id.
func (k *Keys) Open(key string, sealed, about []byte) ([]byte, error) {
	c := k.ciphers[key]
	if c == nil {
		return nil, &KeyError{ID: key}
	}
	plain, err := c.Open(nil, nil, sealed, about)
	if err != nil {
		return nil, &KeyError{ID: key, Wrong: true}
	}
	return plain, nil
}
