package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/typeschema"
	"github.com/pawl-run/pawl/internal/wire"
)

// RunAs runs an agent as [Run] does, for an answer of type T. The agent's Output becomes
// [OutputOf] T. An answer that does not match it goes back to the model, within the retry
// budget of rejected replies; an answer that matches is decoded. For a string the agent gets
// no Output, and the answer is the model's text.
//
// Besides the errors of Run, RunAs fails as [Decode] does; the result is then valid.
func RunAs[T any](ctx context.Context, agent pawl.Agent, input string) (T, pawl.Result, error) {
	var answer T
	if agent.Output != nil {
		return answer, pawl.Result{}, fmt.Errorf("agent %q has an output schema already; drop it, for it is derived from %T", agent.Name, answer)
	}
	if _, text := any(answer).(string); !text {
		var err error
		if agent.Output, err = typeschema.For[T](); err != nil {
			return answer, pawl.Result{}, fmt.Errorf("agent %q: output: %w", agent.Name, err)
		}
	}
	result, err := Run(ctx, agent, input)
	if err != nil {
		return answer, result, err
	}
	answer, err = Decode[T](result)
	return answer, result, err
}

// OutputOf returns the JSON Schema of T for pawl.Agent.Output, so that [Decode] reads the
// answers of the agent's runs. It panics if T has no schema, and names the field.
//
// The schema follows encoding/json: a field is required unless it is a pointer or tagged
// omitempty or omitzero; the tag jsonschema:"…" describes a field to the model and
// enum:"a,b" lists its values.
func OutputOf[T any]() json.RawMessage {
	schema, err := typeschema.For[T]()
	if err != nil {
		panic(fmt.Sprintf("engine.OutputOf: %v", err))
	}
	return schema
}

// Decode returns the answer of a run whose agent has the Output [OutputOf] T, in whichever
// process the run ended. If the run did not succeed, the error is [pawl.Result.Err].
func Decode[T any](result pawl.Result) (answer T, err error) {
	if err := result.Err(); err != nil {
		return answer, err
	}
	document := result.Output
	if text, is := any(&answer).(*string); is && document == nil { // of an agent without an Output
		*text = result.Answer
		return answer, nil
	}
	if document == nil {
		return answer, fmt.Errorf("run %s succeeded (%v) before the model answered", result.Run, result.Reason.Condition)
	}
	if answer, err = decodeAs[T](document); err != nil {
		return answer, fmt.Errorf("run %s: its answer is no %T: %w", result.Run, answer, err)
	}
	return answer, nil
}

// decodeAs decodes a document that matches the schema of T. 2.0 is an integer to JSON
// Schema but not to encoding/json, so such numbers are rewritten if decoding fails.
func decodeAs[T any](document []byte) (T, error) {
	var v, zero T
	err := json.Unmarshal(document, &v)
	if err == nil {
		return v, nil
	}
	plain, encodeErr := wire.PlainIntegers(document)
	v = zero
	if encodeErr != nil || json.Unmarshal(plain, &v) != nil {
		return zero, err
	}
	return v, nil
}

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
