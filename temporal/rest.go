package temporal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"go.temporal.io/sdk/temporal"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/runs"
)

// Input is what a workflow is started with.
type Input struct {
	Run   string `json:"run"`
	Agent string `json:"agent"`
}

// A Wake says that a run may have a reason to go on.
type Wake struct {
	Seq uint64 `json:"seq"` // the last entry of the run that the sender knew
}

// A Rest is how a run came to rest. Its JSON takes at most 300 bytes.
type Rest struct {
	Seq    uint64    `json:"seq"`
	Status string    `json:"status"` // of the run, or StatusRefused or StatusGone
	WakeAt time.Time `json:"wake_at,omitzero"`
	Over   bool      `json:"over,omitempty"`  // the run has ended
	Waits  []string  `json:"waits,omitempty"` // what it waits for, as approval:TOOL
	About  string    `json:"about,omitempty"` // the iteration and the last tool
	Why    string    `json:"why,omitempty"`   // it was refused
}

// What Drive found, where that is no status of a run.
const (
	StatusRefused = "refused" // the run cannot go on here, as when its agent has changed
	StatusGone    = "gone"    // the journal has no such run any more
)

// The search attributes of a workflow. All but the agent's are set when the run comes to rest.
var (
	pawlStatus = temporal.NewSearchAttributeKeyKeyword("PawlStatus")
	pawlAgent  = temporal.NewSearchAttributeKeyKeyword("PawlAgent")
	pawlWaits  = temporal.NewSearchAttributeKeyKeywordList("PawlWaits")
)

// How long the texts of a Rest may be, in bytes.
const (
	mostWaits = 2
	mostWait  = 32
	mostAbout = 48
	mostWhy   = 80
)

// restOf is how a run stands that nobody drives.
func restOf(ctx context.Context, j pawl.Journal, run, about string) (Rest, error) {
	h, err := runs.Head(ctx, j, run)
	if errors.Is(err, pawl.ErrUnknownRun) {
		return Rest{Status: StatusGone, Over: true}, nil
	}
	if err != nil {
		return Rest{}, err
	}
	r := Rest{Seq: h.Seq, Status: h.Status.String(), WakeAt: h.WakeAt, Over: h.Status.Ended(), About: short(about, mostAbout)}
	if !h.Status.Waiting() {
		return r, nil
	}
	s, err := engine.Load(ctx, j, run)
	if err != nil {
		return r, err
	}
	pending, err := engine.Pending(ctx, j, s)
	for _, p := range pending {
		wait := p.Kind
		if p.Tool != "" {
			wait += ":" + p.Tool
		}
		if wait = short(wait, mostWait); !slices.Contains(r.Waits, wait) && len(r.Waits) < mostWaits {
			r.Waits = append(r.Waits, wait)
		}
	}
	slices.Sort(r.Waits)
	return r, err
}

// refusal is the rest of a run that cannot go on here.
func refusal(h pawl.Head, err error) Rest {
	return Rest{Seq: h.Seq, Status: StatusRefused, Why: short(redact.Text(err.Error()), mostWhy)}
}

// short is the beginning of a text on one line, without what JSON would make longer.
func short(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`"\<>&`, r) || r == utf8.RuneError {
			return ' '
		}
		return r
	}, text)
	return display.Clip(text, most-len("…"))
}

// about names where a run is.
func about(iteration int, tool string) string {
	if tool == "" {
		return fmt.Sprintf("iteration %d", iteration)
	}
	return fmt.Sprintf("iteration %d, %s", iteration, tool)
}
