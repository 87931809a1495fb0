package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/wire"
)

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
