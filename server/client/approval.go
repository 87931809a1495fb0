package client

import (
	"encoding/json"
	"time"
)

// A Link is what a link to an approval has: whose call it is about, and the token
// of the request. The token is all the right that it takes, and no other.
type Link struct {
	Run   string `json:"run"`
	Call  string `json:"call"`
	Token string `json:"token"`
}

// DecideLink decides about the call of a link, once.
type DecideLink struct {
	Link

	Approve *bool  `json:"approve"`          // false: it is denied
	Reason  string `json:"reason,omitempty"` // of a denial, for the model
	By      string `json:"by,omitempty"`     // who says so, as far as that can be believed
}

// A LinkedRequest is what a link asks.
type LinkedRequest struct {
	Run       string          `json:"run"`
	Call      string          `json:"call"`
	Agent     string          `json:"agent"`
	Tool      string          `json:"tool"`
	Args      json.RawMessage `json:"args"`
	Reason    string          `json:"reason"`  // why somebody is asked
	Thought   string          `json:"thought"` // what the model said when it made the call
	ExpiresAt *time.Time      `json:"expires_at"`
	// State is open while it can be decided; else approved, denied, expired,
	// invalidated (what it relied on has changed), replaced (it was asked anew), or
	// over (the run has ended).
	State string `json:"state"`
	By    string `json:"by"` // who decided
}
