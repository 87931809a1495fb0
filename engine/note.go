package engine

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/pawl-run/pawl"
)

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
	if s.Redacted() {
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

// compact returns a document as the log has it.
func compact(raw json.RawMessage) []byte {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}
