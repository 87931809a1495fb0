package client

import (
	"encoding/json"
	"time"
)

// A Link is the content of a link to an approval: the call, and the token of the request,
// which gives the right to decide this request only.
type Link struct {
	Run   string `json:"run"`
	Call  string `json:"call"`
	Token string `json:"token"`
}

// DecideLink decides the call of a link, once.
type DecideLink struct {
	Link

	Approve *bool  `json:"approve"`          // false: deny
	Reason  string `json:"reason,omitempty"` // of a denial, for the model
	By      string `json:"by,omitempty"`     // the user's name, unverified
}

// A LinkedRequest is the request behind a link.
type LinkedRequest struct {
	Run       string          `json:"run"`
	Call      string          `json:"call"`
	Agent     string          `json:"agent"`
	Tool      string          `json:"tool"`
	Args      json.RawMessage `json:"args"`
	Reason    string          `json:"reason"`  // why approval is needed
	Thought   string          `json:"thought"` // the model's text with the call
	ExpiresAt *time.Time      `json:"expires_at"`
	// State is open while it can be decided; else approved, denied, expired,
	// invalidated (its preconditions have changed), replaced (by another request), or
	// over (the run has ended).
	State string `json:"state"`
	By    string `json:"by"` // the user who decided
}
