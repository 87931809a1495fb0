package engine

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
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
			if err != nil || s.Signal() >= id {
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
	case s.Redacted():
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
