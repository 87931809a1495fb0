package pipe

import (
	"encoding/gob"
	"errors"

	"github.com/pawl-run/pawl"
)

// The calls of the protocol, which are paths. A program of another release that does not
// know them answers 404.
const (
	callDescribe = "/1/describe"
	callStream   = "/1/stream"
)

// Messages are of encoding/gob: it keeps the bytes of JSON texts, which a provider may want
// back as they came, and needs no other form of a request. A program of an older or newer
// release leaves out the fields that it does not know.
func init() { //nolint:gochecknoinits // gob has one table for the process
	for _, part := range []pawl.Part{pawl.Text{}, pawl.Thinking{}, pawl.Call{}, pawl.ToolResult{}, pawl.File{}} {
		gob.Register(part)
	}
}

// A question is the body of each call.
type question struct {
	Model   string
	Files   []pawl.File // for callDescribe: does the model take them?
	Request pawl.Request
}

// An answer is that to callDescribe.
type answer struct {
	Info  pawl.ModelInfo
	Ready string // why the model cannot be called; empty: it can
	Takes string // why it does not take the files
}

// A chunk is a part of the answer to callStream: a [pawl.Chunk], or the error that ends it.
type chunk struct {
	pawl.Chunk

	Error *pawl.ModelError
}

// failure is an error without its cause, which only this process knows.
func failure(err error) chunk {
	e := pawl.ModelError{Class: pawl.ClassUnknown, Message: err.Error()}
	if me, ok := errors.AsType[*pawl.ModelError](err); ok {
		e = *me
		if e.Message == "" && e.Err != nil {
			e.Message = e.Err.Error()
		}
		e.Err = nil
	}
	return chunk{Error: &e}
}
