package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/typeschema"
)

// Func makes a tool of a function. It is [FuncWith] without options.
func Func[In, Out any](name, description string, fn func(context.Context, In) (Out, error), effect pawl.Effect) pawl.Tool {
	return FuncWith(name, description, fn, effect, nil)
}

// FuncWith makes a tool of a function.
//
// In is a struct with a field for each argument, a map with string keys for arguments of any
// name, or a pointer to one of the two. The schema is derived from it as the package comment
// says. As in any JSON Schema, 1.0 and 1e3 are integers, and the function gets them as such.
//
// A string result becomes a JSON string; a [json.RawMessage] or [pawl.Output] is passed on
// unchanged; nil is null; anything else is marshalled, without escaping <, > and &. Bytes that
// are not UTF-8 are replaced.
//
// If calls run in parallel, the function is called from several goroutines. Its context ends at
// the attempt's deadline or when the run is stopped; a function that does not return soon after
// that is abandoned. [InvocationFrom] returns the call that the function serves, with its
// idempotency key.
//
// The zero effect is [pawl.Write]. Problems with the declaration are reported when the agent is
// prepared, and by Run.
func FuncWith[In, Out any](name, description string, fn func(context.Context, In) (Out, error), effect pawl.Effect, o *Options) pawl.Tool {
	input, problem := typeschema.Object[In]()
	var noFunction error
	if fn == nil {
		noFunction = errors.New("its function is nil")
	}
	o = cmp.Or(o, &Options{})
	return &function[In, Out]{declare(pawl.ToolInfo{
		Name: name, Description: description, Input: input, Effect: effect,
		Timeout: o.Timeout, MaxOutput: o.MaxOutput, MaxCalls: o.MaxCalls,
		MaxParallel: o.MaxParallel, External: o.External, Alone: o.Alone, Exempt: o.Exempt, OnDoubt: o.OnDoubt, Version: o.Version, Trust: o.Trust,
		Reaches: slices.Clone(o.Reaches), Content: slices.Clone(o.Content),
	}, o.Witness, noFunction, problem, returnable(reflect.TypeFor[Out]())), fn, o.Reconcile}
}

type function[In, Out any] struct {
	declared
	fn        func(context.Context, In) (Out, error)
	reconcile func(context.Context, pawl.Invocation) (pawl.Output, bool, error)
}

// Reconcile determines whether a call took place, if the options say how.
func (f *function[In, Out]) Reconcile(ctx context.Context, inv pawl.Invocation) (pawl.Output, bool, error) {
	if f.reconcile == nil {
		return pawl.Output{}, false, errors.New("it cannot tell")
	}
	return f.reconcile(context.WithValue(ctx, invocation{}, inv), inv)
}

// Run calls the function.
func (f *function[In, Out]) Run(ctx context.Context, inv pawl.Invocation) (pawl.Output, error) {
	if f.err != nil {
		return pawl.Output{}, f.err
	}
	in, err := decode[In](inv.Args)
	if err != nil {
		return pawl.Output{}, err
	}
	out, err := f.fn(context.WithValue(ctx, invocation{}, inv), in)
	if err != nil {
		return pawl.Output{}, err
	}
	return encode(out)
}

// returnable returns an error for a result type none of whose values has a JSON form. Below the
// top a field may be nil and left out, which only a value shows.
func returnable(t reflect.Type) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Chan, reflect.Func, reflect.Complex64, reflect.Complex128, reflect.UnsafePointer:
		return fmt.Errorf("its result, %s, has no JSON form; return a string, a struct or a json.RawMessage", t)
	}
	return nil
}

// invocation is the key of the call in a function's context.
type invocation struct{}

// InvocationFrom returns the call that a function made into a tool by [Func] serves, given the
// context that the function was called with. The invocation has the idempotency key, the ids of
// run and call, the attempt, and the arguments as JSON. It reports false for any other context,
// such as that of a test that calls the function itself.
//
// A tool that always needs the invocation should implement [pawl.Tool], whose Run gets it as an
// argument.
func InvocationFrom(ctx context.Context) (pawl.Invocation, bool) {
	inv, ok := ctx.Value(invocation{}).(pawl.Invocation)
	return inv, ok
}
