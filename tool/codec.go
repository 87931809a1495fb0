package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/wire"
)

// decode decodes arguments into a value. They were validated, so only what a schema does not
// express can still fail: the size of an int, a leap second.
func decode[In any](args json.RawMessage) (In, error) {
	if len(bytes.TrimSpace(args)) == 0 {
		args = json.RawMessage(`{}`)
	}
	in, err := strict[In](args)
	if err == nil {
		return in, nil
	}
	// encoding/json wants an integer without point and exponent. Rewriting is the
	// second choice, since it would change numbers that are kept as written.
	if plain, bad := wire.PlainIntegers(args); bad == nil {
		if in, bad := strict[In](plain); bad == nil {
			return in, nil
		}
	}
	var zero In
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Field != "" {
		return zero, fmt.Errorf("argument %s: %s does not fit type %s", wrong.Field, wrong.Value, wrong.Type)
	}
	return zero, fmt.Errorf("arguments: %w", err)
}

func strict[In any](args []byte) (in In, err error) {
	d := json.NewDecoder(bytes.NewReader(args))
	d.DisallowUnknownFields()
	d.UseNumber()
	if err := d.Decode(&in); err != nil {
		return in, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return in, errors.New("there is more after the object")
	}
	return in, nil
}

// mostNested is how deep a JSON result may nest. The log allows a thousand levels, of which
// its own entries need a few.
const mostNested = 900

// encode makes an output of a function's result.
func encode(result any) (pawl.Output, error) {
	var text []byte
	switch r := result.(type) {
	case pawl.Output:
		return r, nil
	case json.RawMessage:
		if len(r) == 0 {
			r = json.RawMessage("null")
		}
		if !json.Valid(r) {
			return pawl.Output{}, errors.New("the tool returned a json.RawMessage that is not JSON")
		}
		text = r
	default:
		var err error
		if text, err = wire.Marshal(r); err != nil {
			return pawl.Output{}, fmt.Errorf("the tool's result cannot be written as JSON: %w", err)
		}
	}
	text = bytes.ToValidUTF8(text, []byte("\uFFFD"))
	if !wire.Valid(text, mostNested) { // it is JSON
		return pawl.Output{}, fmt.Errorf("the tool's result nests deeper than %d levels", mostNested)
	}
	return pawl.Output{JSON: text}, nil
}
