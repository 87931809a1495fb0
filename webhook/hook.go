package webhook

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
)

// A Hook is a receiver of notices about runs.
type Hook struct {
	// URL is where notices are posted. It is https, or http to this machine's
	// loopback; see [CheckURL].
	URL string `json:"url" format:"webhook" such:"https://hooks.example.org/pawl" about:"https, or http on this machine"`
	// Secret signs the notices: whsec_ and a key in base64, as in Standard Webhooks, or
	// any other text, whose bytes are then the key. Without a secret nothing is sent;
	// the notices wait.
	Secret string `json:"-"`
	// SecretName names the secret in messages, such as the variable that has it; optional. In a spec it names the variable.
	SecretName string `json:"secret" format:"variable" such:"HOOK_SECRET" about:"variable with the signing secret"`
	// Events are the kinds of notices that the hook receives; nil: all.
	Events []Event `json:"events,omitempty" unique:"true" min:"1" such:"[run.waiting, run.stopped]" enum:"run.waiting,run.paused,run.stopped,run.notice" usual:"all" about:"notices to send"`
}

// Always gives every run the same hooks.
func Always(hooks ...Hook) func(pawl.Declaration) []Hook {
	hooks = slices.Clone(hooks)
	return func(pawl.Declaration) []Hook { return hooks }
}

// CheckURL returns what is wrong with the URL of a hook. A notice contains the run's result, so
// it must be encrypted in transit: http is allowed only for this machine's loopback by name.
func CheckURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http":
		return fmt.Errorf("write a URL that begins with https://") // the URL may hold a secret
	case u.User != nil:
		return fmt.Errorf("leave the name and password out; notices are signed instead")
	case u.Fragment != "":
		return fmt.Errorf("leave out the fragment after #, which is not sent")
	case u.Scheme == "http" && !loopback(u.Hostname()):
		return fmt.Errorf("write https; http is for localhost, 127.0.0.1 and [::1] only")
	}
	return nil
}

// here are the names for this machine that a URL may have.
var here = []string{"localhost", "127.0.0.1", "::1"}

func loopback(host string) bool { return slices.Contains(here, strings.ToLower(host)) }

// wants reports whether the hook receives an event.
func (h *Hook) wants(e Event) bool { return h.Events == nil || slices.Contains(h.Events, e) }

// name identifies a hook in stored state: its URL may hold a secret.
func (h *Hook) name() string {
	sum := sha256.Sum256([]byte(h.URL))
	return hex.EncodeToString(sum[:8])
}

// host is the host of the URL, which may be logged.
func (h *Hook) host() string {
	u, err := url.Parse(h.URL)
	if err != nil {
		return "a URL that cannot be read"
	}
	return u.Host
}
