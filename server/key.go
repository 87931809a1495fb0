package server

import "slices"

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

// A Key is a bearer token and what it allows.
type Key struct {
	Token string
	// Name says whose it is. What is decided with it is recorded as decided by
	// that name; empty: by whoever the request says.
	Name   string
	Scopes []Scope // nil: all
	// Labels are those that a run must have for the key to know of it. The runs
	// it starts get them.
	Labels map[string]string
}

func (k *Key) allows(s Scope) bool { return k.Scopes == nil || slices.Contains(k.Scopes, s) }
