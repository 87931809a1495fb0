package runs

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/model/script"
)

// RecordOptions are the options of [Record]; nil is the zero value.
type RecordOptions struct {
	// Raw keeps what looks like a secret.
	Raw bool
}

// A Recording is a script that replays the models of a run.
type Recording struct {
	Script   *script.Script
	Redacted []string // places that lost what looked like a secret, such as "turn 3"
}

// Record makes a script of what the models of a run and its children replied. What looks like
// a secret is removed from texts. Arguments of calls without it would be other calls, so there
// it is an error, as is a run that has lost its secrets already.
func Record(ctx context.Context, j pawl.Journal, run string, o *RecordOptions) (*Recording, error) {
	o = cmp.Or(o, &RecordOptions{})
	r := &recorder{journal: j, raw: o.Raw, made: &Recording{}}
	if err := r.read(ctx, run); err != nil {
		return nil, err
	}
	if len(r.exchanges) == 0 {
		return nil, &RefusedError{fmt.Errorf("run %s has no model reply to record", run)}
	}
	var err error
	if r.made.Script, err = script.Record(run, r.exchanges); err != nil {
		return nil, &RefusedError{err}
	}
	r.made.Script.Name, r.made.Script.Price = run, r.price
	return r.made, nil
}

type recorder struct {
	journal   pawl.Journal
	raw       bool
	exchanges []script.Exchange
	price     *pawl.Price // of the root's model
	made      *Recording
}

func (r *recorder) read(ctx context.Context, run string) error {
	state := new(pawl.State)
	var sent engine.Sent
	var children []string
	for e, err := range engine.Entries(ctx, r.journal, run, 1) {
		if err != nil {
			return err
		}
		state.Fold(e)
		x := script.Exchange{Request: sent.Request, Fallback: sent.Called.Fallback}
		switch event := e.Event.(type) {
		case pawl.ModelCalled:
			if sent, err = engine.RequestAt(ctx, r.journal, run, e.Seq); err != nil {
				return err
			}
			continue
		case pawl.ModelReplied:
			x.Reply = &event.Reply
			if event.Estimated {
				x.Reply.Usage = pawl.Usage{}
			}
		case pawl.ModelFailed:
			x.Err = &pawl.ModelError{Class: event.Class, Message: event.Message, Usage: event.Usage}
		case pawl.ChildStarted:
			if !slices.Contains(children, event.Child) {
				children = append(children, event.Child)
			}
			continue
		default:
			continue
		}
		if err := r.add(x); err != nil {
			return err
		}
	}
	if state.Internals().Redacted() {
		return fmt.Errorf("run %s: %w", run, engine.ErrRedacted)
	}
	if r.price == nil {
		r.price = state.Declaration().ModelInfo.Price
	}
	for _, child := range children {
		if err := r.read(ctx, child); err != nil {
			return err
		}
	}
	return nil
}

// add adds an exchange without what looks like a secret.
func (r *recorder) add(x script.Exchange) error {
	place := fmt.Sprintf("run %s, turn %d", x.Request.Run, x.Request.Turn)
	clean := func(text string) string {
		if r.raw {
			return text
		}
		shown := redact.Text(text)
		if shown != text && !slices.Contains(r.made.Redacted, place) {
			r.made.Redacted = append(r.made.Redacted, place)
		}
		return shown
	}
	if x.Err != nil {
		x.Err.Message = clean(x.Err.Message)
		r.exchanges = append(r.exchanges, x)
		return nil
	}
	parts := slices.Clone(x.Reply.Parts)
	for i, part := range parts {
		switch p := part.(type) {
		case pawl.Text:
			p.Text = clean(p.Text)
			parts[i] = p
		case pawl.Thinking:
			p.Text = clean(p.Text)
			parts[i] = p
		case pawl.Citation:
			p.Title, p.URL, p.Quote = clean(p.Title), clean(p.URL), clean(p.Quote)
			parts[i] = p
		case pawl.Call:
			if !r.raw && !bytes.Equal(redact.JSON(p.Args), p.Args) {
				return &RefusedError{fmt.Errorf("%s: the arguments of call %s to %s contain what looks like a secret, and removing it would change the call; record it raw, and keep the file private", place, p.ID, p.Tool)}
			}
		}
	}
	x.Reply.Parts = parts
	r.exchanges = append(r.exchanges, x)
	return nil
}
