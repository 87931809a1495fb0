package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
)

// goOn takes up a run that waited when its call was made before. No handle: it
// needs none, since it has ended or waits still.
func (s *Server) goOn(ctx context.Context, agent pawl.Agent, d *driven) (*engine.Handle, error) {
	d.result = pawl.ResultOf(d.state)
	switch status := d.state.Status(); {
	case status == pawl.Running:
	case len(d.result.Pending) > 0:
		heard, err := s.heard(ctx, d)
		if err != nil || !heard && !late(d.result) {
			return nil, err
		}
	case status != pawl.Paused:
		return nil, nil // somebody went on with it
	}
	h, err := s.engine.Resume(s.life, agent, d.ID, nil)
	if held := (*pawl.HeldError)(nil); errors.As(err, &held) {
		return nil, &elsewhereError{d.ID}
	}
	return h, err
}

// heard reports whether somebody has written to a run since it was parked.
func (s *Server) heard(ctx context.Context, d *driven) (bool, error) {
	mail, ok := s.journal.(pawl.Mailbox)
	if !ok {
		return false, nil
	}
	for l, err := range mail.Letters(ctx, d.ID, d.state.Letter()) {
		if err != nil || l.Kind != pawl.LetterDelivery { // which is not for the run
			return err == nil, err
		}
	}
	return false, nil
}

// late reports whether the time of something a run waits for is over. It is
// asked for again when the run goes on.
func late(r pawl.Result) bool {
	for _, p := range r.Pending {
		if p.ExpiresAt != nil && time.Now().After(*p.ExpiresAt) {
			return true
		}
	}
	return false
}

// waits says what a run waits for and how it comes to go on.
func waits(r pawl.Result) string {
	var b strings.Builder
	for _, p := range r.Pending {
		run := p.Run
		var decide string
		switch p.Kind {
		case "approval":
			decide = fmt.Sprintf("pawl approve %s %s, or pawl deny %s %s", run, p.Call, run, p.Call)
		case "input":
			decide = fmt.Sprintf("pawl answer %s TEXT --id %s", run, p.Call)
		case "client_tool":
			decide = fmt.Sprintf("pawl submit %s %s JSON", run, p.Call)
		default:
			decide = fmt.Sprintf("pawl settle %s %s --happened JSON, or --did-not-happen", run, p.Call)
		}
		what := strings.ReplaceAll(p.Kind, "_", " ")
		fmt.Fprintf(&b, "This waits for %s: call %s of run %s", what, p.Call, run)
		if p.Tool != "" {
			fmt.Fprintf(&b, ", tool %s", p.Tool)
		}
		if p.Reason != "" {
			fmt.Fprintf(&b, ": %s", p.Reason)
		}
		fmt.Fprintf(&b, ". A person decides with: %s.\n", decide)
	}
	b.WriteString("When that is done, make the same call again to get its result; it is not made twice.")
	return b.String()
}

// moreOf is what an exhausted run wants more of, in what is recommended.
var moreOf = regexp.MustCompile(`--limit \S+`)

// ended says how a run ended that did not succeed.
func ended(r pawl.Result) string {
	text := "the run ended as " + r.Status.Words()
	if r.Reason.Condition != "" && r.Status != pawl.PlanFailed {
		text += ": " + r.Reason.Condition
	}
	if r.Reason.Detail != "" {
		text += " (" + r.Reason.Detail + ")"
	}
	if r.Answer != "" {
		text += ". So far: " + r.Answer
	}
	text += ". It is run " + r.Run
	if r.Resumable {
		text += "; a person may let it go on with: pawl resume " + r.Run
		if more := moreOf.FindString(r.Action); more != "" {
			text += " " + more
		}
	}
	return text
}
