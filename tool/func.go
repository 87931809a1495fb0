package tool

import (
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
// In is a struct with a field for each argument, or a map with string keys for
// arguments of any name, or a pointer to one of the two; the schema is derived
// from it as the package comment says. In that schema, as in
// any JSON Schema, 1.0 and 1e3 are integers, and so they are for the function.
//
// Of what fn returns, a string becomes a JSON string and a [json.RawMessage] or
// [pawl.Output] is given as it is; nil is null; anything else is marshalled,
// with <, > and & as they are. Bytes that are not UTF-8 are replaced.
//
// The function is called from many goroutines when its calls run beside each
// other. Its context ends at the attempt's deadline or when the run is stopped;
// one that does not return soon after that is abandoned. What it needs to know
// of the call, such as the idempotency key, [InvocationFrom] tells.
//
// The zero effect is [pawl.Write]. What is wrong with the declaration is told
// when the agent is prepared, and by Run.
func FuncWith[In, Out any](name, description string, fn func(context.Context, In) (Out, error), effect pawl.Effect, o *Options) pawl.Tool {
	input, problem := typeschema.Object[In]()
	var noFunction error
	if fn == nil {
		noFunction = errors.New("its function is nil")
	}
	if o == nil {
		o = &Options{}
	}
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

// Reconcile tells whether a call took place, if the options say how.
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

// returnable finds results that no value of theirs could ever be written as
// JSON. Below the top a field may be nil and left out, which only a value shows.
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

// invocation is the key under which a function's context knows its call.
type invocation struct{}

// InvocationFrom returns the call that a function made into a tool by [Func] is
// answering, given the context it was called with: the idempotency key, the
// ids of run and call, the attempt, the arguments as JSON. It reports false for
// any other context, as in a test that calls the function itself.
//
// A tool that cannot do without should be a [pawl.Tool] of its own, which is
// handed the invocation as an argument.
func InvocationFrom(ctx context.Context) (pawl.Invocation, bool) {
	inv, ok := ctx.Value(invocation{}).(pawl.Invocation)
	return inv, ok
}
