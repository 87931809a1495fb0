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
	"github.com/pawl-run/pawl/internal/naming"
	"github.com/pawl-run/pawl/runs"
)

// A Scope is a set of operations that a key allows.
type Scope int

// The scopes.
const (
	Read   Scope = 1 + iota // look at runs
	Run                     // start, resume, cancel and fork them
	Decide                  // approve, deny, answer, submit and settle
)

var scopeNames = naming.NewEnum[Scope]("scope", []string{"read", "run", "decide"})

// String returns the scope's name.
func (s Scope) String() string { return scopeNames.String(s) }

// UnmarshalText parses a scope's name.
func (s *Scope) UnmarshalText(text []byte) error { return scopeNames.Unmarshal(s, text) }

// A Key is a bearer token and what it allows.
type Key struct {
	Token string
	// Name is the owner of the key. Decisions are recorded under that name; empty: under
	// the name in the request.
	Name   string
	Scopes []Scope // nil: all
	// Labels restrict the key to runs that have them, and are given to the runs it
	// starts. A child run has its root's labels. Idempotency keys and threads are
	// separate for each set of labels.
	Labels map[string]string
}

func (k *Key) allows(s Scope) bool { return k.Scopes == nil || slices.Contains(k.Scopes, s) }

// sees reports whether the key may see a root run.
func (k *Key) sees(root pawl.Head) bool { return runs.HasLabels(root, k.Labels) }

// covers reports whether the key may see what is for runs with labels.
func (k *Key) covers(labels map[string]string) bool { return k.sees(pawl.Head{Labels: labels}) }

// grants refuses the labels of a request that no query could name, those without a value, and
// those that differ from what the key gives.
func (k *Key) grants(labels map[string]string) error {
	for name, value := range labels {
		if name == "" || strings.Contains(name, "=") {
			return invalid(fmt.Sprintf("label %q cannot be queried as KEY=VALUE; use a name without =", name))
		}
		if value == "" {
			return invalid(fmt.Sprintf("label %q has no value; give it one, or leave it out", name))
		}
		if own, ok := k.Labels[name]; ok && own != value {
			return invalid(fmt.Sprintf("runs of this token have the label %s=%s; leave out %[1]s=%[3]s", name, own, value))
		}
	}
	return nil
}

// own makes a name private to keys of the same labels: two tenants may use the same name
// for different things.
func (k *Key) own(name string) string {
	if name == "" || len(k.Labels) == 0 {
		return name
	}
	values := url.Values{}
	for label, value := range k.Labels {
		values.Set(label, value)
	}
	prefix := values.Encode() + "/" // contains no other slash
	return prefix + strings.TrimPrefix(name, prefix)
}

// hashed is a key by the digest of its token: digests have equal lengths, so that
// comparing them takes constant time.
type hashed struct {
	Key
	sum [sha256.Size]byte
}

func hash(keys []Key) ([]hashed, error) {
	if len(keys) == 0 {
		return nil, errors.New("a server needs at least one key")
	}
	var all []hashed
	for i, k := range keys {
		if strings.TrimSpace(k.Token) == "" {
			return nil, fmt.Errorf("key %d (%q) has no token", i+1, k.Name)
		}
		h := hashed{Key: k, sum: sha256.Sum256([]byte(k.Token))}
		h.Token = ""
		if slices.ContainsFunc(all, func(o hashed) bool { return o.sum == h.sum }) {
			return nil, fmt.Errorf("key %d (%q) has the same token as another key", i+1, k.Name)
		}
		all = append(all, h)
	}
	return all, nil
}

// keyOf returns the key with a token; nil: none has it.
func (s *Server) keyOf(token string) (found *Key) {
	sum := sha256.Sum256([]byte(token))
	for i := range s.keys {
		if subtle.ConstantTimeCompare(sum[:], s.keys[i].sum[:]) == 1 {
			found = &s.keys[i].Key
		}
	}
	return found
}
