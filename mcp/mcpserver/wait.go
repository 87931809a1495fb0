package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/explain"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/runs"
)

// goOn resumes a run that waited when its call was made before. No handle: the run has ended or
// still waits.
func (s *Server) goOn(ctx, life context.Context, agent pawl.Agent, d *driven) (*engine.Handle, error) {
	d.result = d.state.Result()
	switch status := d.state.Status(); {
	case status == pawl.StatusRunning, status == pawl.StatusPaused && !time.Now().Before(d.state.WakeAt()):
	case len(d.result.Pending) > 0:
		heard, err := s.heard(ctx, d)
		if err != nil || !heard && !late(d.result) {
			return nil, err
		}
	case status != pawl.StatusPaused:
		return nil, nil // another process resumed it
	}
	h, err := s.engine.Resume(life, agent, d.ID, nil)
	if held := (*pawl.HeldError)(nil); errors.As(err, &held) {
		return nil, &elsewhereError{d.ID}
	}
	return h, err
}

// heard reports whether a run got a signal since it was suspended.
func (s *Server) heard(ctx context.Context, d *driven) (bool, error) {
	mail, ok := s.journal.(pawl.Inbox)
	if !ok {
		return false, nil
	}
	for l, err := range mail.Signals(ctx, d.ID, d.state.Internals().Signal()) {
		if err != nil || l.Kind != pawl.SignalDelivery { // a receipt is not for the run
			return err == nil, err
		}
	}
	return false, nil
}

// late reports whether a request of a run has expired. The resumed run makes it again.
func late(r pawl.Result) bool {
	for _, p := range r.Pending {
		if p.ExpiresAt != nil && time.Now().After(*p.ExpiresAt) {
			return true
		}
	}
	return false
}

// waits describes what a run waits for and how it resumes.
func (s *Server) waits(ctx context.Context, r pawl.Result) string {
	var b strings.Builder
	for _, p := range r.Pending {
		fmt.Fprintf(&b, "This waits for %s: call %s of run %s", strings.ReplaceAll(p.Kind, "_", " "), p.Call, p.Run)
		if p.Tool != "" {
			fmt.Fprintf(&b, ", tool %s", p.Tool)
		}
		if p.Reason != "" {
			fmt.Fprintf(&b, ": %s", display.Visible(p.Reason))
		}
		b.WriteString(". ")
	}
	var commands []string
	for _, next := range s.next(ctx, r.Run) {
		commands = append(commands, next.Command)
	}
	if commands != nil {
		fmt.Fprintf(&b, "A person decides with: %s. ", strings.Join(commands, ", or "))
	}
	b.WriteString("When that is done, make the same call again to get its result; it is not made twice.")
	return b.String()
}

// ended describes how a run ended without success.
func (s *Server) ended(ctx context.Context, r pawl.Result) string {
	text := "the run ended as " + r.Status.String()
	if r.Reason.Condition != "" && r.Status != pawl.StatusPlanFailed {
		text += ": " + r.Reason.Condition
	}
	if r.Reason.Detail != "" {
		text += " (" + r.Reason.Detail + ")"
	}
	if r.Answer != "" {
		text += ". So far: " + r.Answer
	}
	text += ". It is run " + r.Run
	if next := s.next(ctx, r.Run); len(next) > 0 && r.Resumable {
		text += "; a person may let it go on with: " + next[0].Command
	}
	return text
}

// next is what a person can do about a run; empty if it cannot be read.
func (s *Server) next(ctx context.Context, run string) []explain.Action {
	ctx = context.WithoutCancel(ctx)
	h, err := runs.Head(ctx, s.journal, run)
	if err != nil {
		return nil
	}
	r, err := runs.Report(ctx, s.journal, h, s.place)
	if err != nil {
		return nil
	}
	return r.Next
}
