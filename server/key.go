package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
)

// A Scope is something a key allows.
type Scope int

// The scopes.
const (
	Read   Scope = 1 + iota // look at runs
	Run                     // start, resume, cancel and fork them
	Decide                  // approve, deny, answer, submit and settle
)

var scopeNames = []string{"read", "run", "decide"}

// String returns the scope's name.
func (s Scope) String() string {
	if s < Read || s > Decide {
		return "scope"
	}
	return scopeNames[s-1]
}

// UnmarshalText reads a scope's name.
func (s *Scope) UnmarshalText(text []byte) error {
	i := slices.Index(scopeNames, string(text))
	if i < 0 {
		return fmt.Errorf("there is no scope %q; write %s", text, strings.Join(scopeNames, ", "))
	}
	*s = Scope(i + 1)
	return nil
}

// A Key is a bearer token and what it allows.
type Key struct {
	Token string
	// Name says whose it is. What is decided with it is recorded as decided by
	// that name; empty: by whoever the request says.
	Name   string
	Scopes []Scope // nil: all
	// Labels are those that a run must have for the key to know of it. The runs
	// it starts get them. A child run has those of the run it descends from. Their
	// idempotency keys and threads are their own.
	Labels map[string]string
}

func (k *Key) allows(s Scope) bool { return k.Scopes == nil || slices.Contains(k.Scopes, s) }

// sees reports whether the key may know of a run that descends from none.
func (k *Key) sees(root pawl.Head) bool {
	for name, value := range k.Labels {
		if has, ok := root.Labels[name]; !ok || has != value {
			return false
		}
	}
	return true
}

// own is a name that only keys of the same labels can say: two tenants that call
// something the same do not mean the same.
func (k *Key) own(name string) string {
	if name == "" || len(k.Labels) == 0 {
		return name
	}
	values := url.Values{}
	for label, value := range k.Labels {
		values.Set(label, value)
	}
	prefix := values.Encode() + "/" // in which there is no other slash
	return prefix + strings.TrimPrefix(name, prefix)
}

// hashed is a key by the digest of its token: digests are of one length, so that
// comparing them takes the same time whatever was sent.
type hashed struct {
	Key
	sum [sha256.Size]byte
}

func hash(keys []Key) ([]hashed, error) {
	if len(keys) == 0 {
		return nil, errors.New("a server without keys serves nobody; give it at least one")
	}
	var all []hashed
	for i, k := range keys {
		if strings.TrimSpace(k.Token) == "" {
			return nil, fmt.Errorf("key %d (%q) has no token", i+1, k.Name)
		}
		h := hashed{Key: k, sum: sha256.Sum256([]byte(k.Token))}
		h.Token = ""
		if slices.ContainsFunc(all, func(o hashed) bool { return o.sum == h.sum }) {
			return nil, fmt.Errorf("key %d (%q) has the token of another", i+1, k.Name)
		}
		all = append(all, h)
	}
	return all, nil
}

// keyOf is the key with a token; nil: there is none.
func (s *Server) keyOf(token string) (found *Key) {
	sum := sha256.Sum256([]byte(token))
	for i := range s.keys {
		if subtle.ConstantTimeCompare(sum[:], s.keys[i].sum[:]) == 1 {
			found = &s.keys[i].Key
		}
	}
	return found
}
