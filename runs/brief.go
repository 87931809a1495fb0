package runs

import (
	"context"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/display"
)

// A Brief is what a list shows of a run in addition to its head. Its texts have at most 300
// bytes, are on one line, and have no apparent secrets.
type Brief struct {
	Input  string
	Answer string
	Waits  []pawl.Pending // what the run waits for, its children's calls included
}

const mostBrief = 300

// BriefOf returns the brief of a run. It reads one entry of a run that is driven now, and the
// whole log of any other.
func BriefOf(ctx context.Context, j pawl.Journal, h pawl.Head) (Brief, error) {
	var s *pawl.State
	var err error
	if h.Status == pawl.StatusRunning {
		s = new(pawl.State)
		for e, err := range Entries(ctx, j, h.Run) {
			if err != nil {
				return Brief{}, err
			}
			s.Fold(e)
			break
		}
	} else if s, err = engine.Load(ctx, shown{j}, h.Run); err != nil {
		return Brief{}, err
	}
	b := Brief{Input: brief(s.Input()), Answer: brief(s.Answer())}
	if h.Status.Waiting() {
		b.Waits, err = waits(ctx, j, s)
		b.Waits = Redacted(b.Waits)
	}
	return b, err
}

// brief is the beginning of a text, on one line.
func brief(text string) string {
	text = text[:min(len(text), 4*mostBrief)]
	return display.Clip(strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " "), mostBrief)
}
