package engine

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/wire"
)

// sayBody is the body of a message's signal.
type sayBody struct {
	Text  string `json:"text"`
	After bool   `json:"after,omitempty"`
}

// sayRequest begins the request of a message's signal: it answers no call.
const sayRequest = "say."

// SayOptions are the options of [Engine.Say]; nil is the zero value.
type SayOptions struct {
	// After has the model read the message when it would be done, instead of before its next turn.
	After bool
	// Key makes a repeat of the message the same message: it is read once. Empty: each is
	// another.
	Key string
}

// Say sends a message of the user by to a run that runs or waits, whichever process drives it.
// The message is durable when Say returns, and read once, in the order sent. A suspended run
// reads it when it is resumed, and a message does not resume it. It fails for a run that has
// ended, also if that happened before the run read the message.
func (e *Engine) Say(ctx context.Context, run, by, text string, o *SayOptions) error {
	if o == nil {
		o = &SayOptions{}
	}
	request := sayRequest + rand.Text()
	if o.Key != "" {
		request = sayRequest + derivedID("say", o.Key)
	}
	return e.say(ctx, run, by, text, request, o)
}

// say sends a message with a request, which is sent once.
func (e *Engine) say(ctx context.Context, run, by, text, request string, o *SayOptions) error {
	if strings.TrimSpace(text) == "" {
		return errors.New("the message is empty; give a text")
	}
	if e.inbox == nil {
		return errors.New("this journal has no inbox: a message cannot reach a run")
	}
	if err := e.hears(ctx, run); err != nil {
		return err
	}
	body, err := json.Marshal(sayBody{text, o.After})
	if err != nil {
		return fmt.Errorf("message to run %s: %w", run, err)
	}
	letter := pawl.Signal{Run: run, Kind: pawl.SignalAnswer, Request: request, By: e.secrets.Scrub(by), Body: e.secrets.JSON(body)}
	letter.Time = time.Now().UTC()
	sent, err := e.inbox.Send(ctx, letter)
	if err != nil {
		return err
	}
	return e.heard(ctx, run, sent.ID)
}

// heard waits until the owner of a run must have seen a message, and returns why the run will not
// read it; nil: it will. Owners look for signals every readEvery.
func (e *Engine) heard(ctx context.Context, run string, id int64) error {
	e.mu.Lock()
	d := e.live[run]
	e.mu.Unlock()
	if d != nil {
		return e.fetch(ctx, d)
	}
	for end := time.Now().Add(3 * readEvery); ; {
		h, err := e.head(ctx, run)
		switch {
		case err != nil:
			return err
		case h.Status.Ended():
			s, err := Load(ctx, e.journal, run)
			if err != nil || s.Internals().Signal() >= id {
				return err
			}
			return fmt.Errorf("run %s ended as %v before it read the message", run, h.Status)
		case h.Status != pawl.StatusRunning || !owned(h) || time.Now().After(end):
			return nil
		}
		select {
		case <-time.After(readEvery / 20):
		case <-ctx.Done():
			return nil //nolint:nilerr // the message is sent
		}
	}
}

// hears returns why a run reads no messages; nil: it does.
func (e *Engine) hears(ctx context.Context, run string) error {
	s, err := Load(ctx, e.journal, run)
	switch {
	case err != nil:
		return err
	case s.Internals().Redacted():
		return fmt.Errorf("run %s: %w", run, ErrRedacted)
	case s.Status().Ended():
		return fmt.Errorf("run %s is over: %v; to continue, start a run in its thread, or fork it with the message as the input", run, s.Status())
	}
	return nil
}

// said is the entry that a message becomes; nil: the signal is no message.
func (q *requests) said(l *pawl.Signal) pawl.Event {
	var b sayBody
	if !isSaid(l) || json.Unmarshal(l.Body, &b) != nil {
		return nil
	}
	return pawl.InputGiven{Text: q.rec.clean.text(b.Text), By: l.By, After: b.After, Signal: l.ID}
}

// isSaid reports whether a signal is a message, which does not wake a run that waits.
func isSaid(l *pawl.Signal) bool {
	return l.Kind == pawl.SignalAnswer && strings.HasPrefix(l.Request, sayRequest)
}

// noteBody is the body of a note's signal.
type noteBody struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"`
}

// Note adds a note to the log of a run, in the name of by, whichever process drives the
// run. The note is durable when Note returns. Its owner records it as [pawl.Noted] before
// the next step; a suspended run records it when it is resumed, and a note does not resume
// it. Policies and conditions read it by [pawl.State.Note]. It fails for a run that has
// ended. The value must encode as JSON.
func (e *Engine) Note(ctx context.Context, run, by, name string, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("note %q: %w", name, err)
	}
	if name == "" || by == "" || strings.HasPrefix(by, "__") || strings.HasPrefix(by, "hook ") {
		return fmt.Errorf("note %q by %q: a note has a name and an author, which does not begin with __ or \"hook \"", name, by)
	}
	if e.inbox == nil {
		return errors.New("this journal has no inbox: only hooks can add notes")
	}
	s, err := Load(ctx, e.journal, run)
	if err != nil {
		return err
	}
	if s.Internals().Redacted() {
		return fmt.Errorf("run %s: %w", run, ErrRedacted)
	}
	if s.Status().Ended() {
		return fmt.Errorf("run %s is over: %v", run, s.Status())
	}
	body, err := json.Marshal(noteBody{name, raw})
	if err != nil {
		return fmt.Errorf("note %q: %w", name, err)
	}
	return e.send(ctx, pawl.Signal{Run: run, Kind: pawl.SignalNote, Request: "note." + rand.Text(), By: e.secrets.Scrub(by), Body: e.secrets.JSON(body)})
}

// noteAll records the notes of a hook.
func noteAll(r *recorder, hook string, notes []pawl.Noted) {
	for _, n := range notes {
		by, value := "hook "+hook, r.clean.json(n.Value)
		if !json.Valid(value) {
			r.log(slog.LevelWarn, "a hook's note is not JSON and is not recorded", slog.String("hook", hook), slog.String("note", n.Name))
			continue
		}
		name := r.clean.text(n.Name)
		if old, ok := r.state.Note(by, name); ok && bytes.Equal(old, compact(value)) {
			continue // the hook was shown the entry before a crash, too
		}
		r.appendNow(pawl.Noted{By: by, Name: name, Value: value})
	}
}

// noteChanges records what an adapter changed in a request because the model refuses it, unless
// that is recorded. The note has all changes so far.
func noteChanges(r *recorder, changes []string) {
	const by, name = "__model__", "adapted"
	if len(changes) == 0 {
		return
	}
	var all []string
	if before, ok := r.state.Note(by, name); ok {
		_ = json.Unmarshal(before, &all) // which is the engine's own
	}
	known := len(all)
	for _, text := range changes {
		if text = wire.Text(text); !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	if len(all) > known {
		value, _ := json.Marshal(all) // strings always marshal
		r.appendNow(pawl.Noted{By: by, Name: name, Value: value})
	}
}

// compact returns a document as the log has it.
func compact(raw json.RawMessage) []byte {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}
