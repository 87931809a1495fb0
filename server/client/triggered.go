package client

// Triggered is what became of a webhook: it started a run, or signalled one, or was ignored.
type Triggered struct {
	Run       string `json:"run,omitempty"`
	Found     bool   `json:"found,omitempty"`     // the run existed already
	Ignored   string `json:"ignored,omitempty"`   // why nothing was done
	Challenge string `json:"challenge,omitempty"` // of Slack, which verifies the address
}
