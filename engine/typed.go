package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/typeschema"
)

// RunAs runs an agent as [Run] does, for an answer of type T. The agent's Output becomes
// [OutputOf] T. An answer that does not match it goes back to the model, within the retry
// budget of rejected replies; an answer that matches is decoded.
//
// Besides the errors of Run, RunAs fails as [Decode] does; the result is then valid.
func RunAs[T any](ctx context.Context, agent pawl.Agent, input string) (T, pawl.Result, error) {
	var answer T
	if agent.Output != nil {
		return answer, pawl.Result{}, fmt.Errorf("agent %q has an output schema already; drop it, for it is derived from %T", agent.Name, answer)
	}
	schema, err := typeschema.For[T]()
	if err != nil {
		return answer, pawl.Result{}, fmt.Errorf("agent %q: output: %w", agent.Name, err)
	}
	agent.Output = schema
	result, err := Run(ctx, agent, input)
	if err != nil {
		return answer, result, err
	}
	answer, err = Decode[T](result)
	return answer, result, err
}

// OutputOf returns the JSON Schema of T for pawl.Agent.Output, so that [Decode] reads the
// answers of the agent's runs. It panics if T has no schema, and names the field; tool.SchemaOf
// returns an error instead.
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
	if document == nil && result.Answer != "" { // a string that was submitted
		if document, err = json.Marshal(result.Answer); err != nil {
			return answer, fmt.Errorf("run %s: its answer: %w", result.Run, err)
		}
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
	var loose any
	d := json.NewDecoder(bytes.NewReader(document))
	d.UseNumber()
	if d.Decode(&loose) != nil {
		return zero, err
	}
	plain, encodeErr := json.Marshal(plainNumbers(loose))
	v = zero
	if encodeErr != nil || json.Unmarshal(plain, &v) != nil {
		return zero, err
	}
	return v, nil
}

// plainNumbers writes integers that a float64 represents exactly without point and exponent.
func plainNumbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = plainNumbers(v[k])
		}
	case []any:
		for i := range v {
			v[i] = plainNumbers(v[i])
		}
	case json.Number:
		const exact = 1 << 53
		if f, err := v.Float64(); err == nil && f == math.Trunc(f) && math.Abs(f) <= exact {
			return int64(f)
		}
	}
	return v
}
