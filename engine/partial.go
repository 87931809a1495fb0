package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"iter"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/wire"
)

// Partial yields the answer of a run while the model writes it: a value each time that more
// of it is known, and last the whole answer, decoded as by [Decode]. If the run does not
// succeed, that is the error. entries are those of the run from the first one, such as
// [Handle.Entries] yields; start the run with StartOptions.Watch, or pieces that come before the
// range begins are missing. The agent has an Output, and may have tools:
//
//	for invoice, err := range engine.Partial[Invoice](handle.Entries(ctx)) {
//		…
//	}
//
// A value has what is certain: numbers, booleans and strings that the schema restricts (by
// enum, format or pattern) are whole or missing, and other strings may end in the middle.
// What is missing is zero, required or not. If an answer is not accepted, or its call failed,
// the values begin again.
func Partial[T any](entries iter.Seq2[pawl.Entry, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		var g Growing
		state := new(pawl.State)
		for e, err := range entries {
			if err != nil {
				yield(zero, err)
				return
			}
			if e.Seq == 1 { // after a handoff, of the next run
				state = new(pawl.State)
			}
			if e.Seq > 0 {
				state.Fold(e)
			}
			document := g.Add(e)
			if document == nil {
				continue
			}
			if value, err := decodeAs[T](document); err == nil && !yield(value, nil) {
				return
			}
		}
		if state.Seq() == 0 {
			yield(zero, errors.New("the sequence has no entry of a run"))
			return
		}
		yield(Decode[T](state.Result()))
	}
}

// Growing follows the entries of a run and returns what is known so far of the answer that the
// model is writing. The zero Growing is ready for the first entry of a run. It is not safe for
// concurrent use.
type Growing struct {
	schema json.RawMessage
	turn   bool // the call in progress may bring the answer
	text   strings.Builder
	before []byte
}

// Add takes the next entry, and returns the answer as far as it is then known; nil: no more is
// known than before. See [Partial].
func (g *Growing) Add(e pawl.Entry) json.RawMessage {
	switch ev := e.Event.(type) {
	case pawl.RunStarted:
		*g = Growing{schema: ev.Declaration.Output}
	case pawl.RunResumed:
		if ev.Changed != nil {
			g.schema = ev.Changed.Output
		}
	case pawl.ModelCalled:
		g.turn = ev.Purpose == pawl.PurposeTurn && ev.View.Step == "" && g.schema != nil
		g.text.Reset()
		g.before = nil
	case pawl.ModelDelta:
		if ev.Text == "" {
			return nil
		}
		if g.turn = g.turn && ev.From == g.text.Len(); !g.turn {
			return nil // also if pieces before this one are missing
		}
		g.text.WriteString(ev.Text)
		document := wire.Complete(g.text.String(), g.schema)
		if document == nil || bytes.Equal(document, g.before) {
			return nil
		}
		g.before = document
		return document
	}
	return nil
}
