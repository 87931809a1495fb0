package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

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
