package fakeprovider

import (
	"bytes"
	"encoding/json"

	"github.com/pawl-run/pawl/internal/wire"
)

// A part is what a frame does in its stream.
type part int

const (
	opening part = 1 + iota // the reply is announced
	begin                   // an item is announced
	piece                   // a fragment of an item
	end                     // an item is closed
	finish                  // why it stopped
	aside                   // usage, pings: nothing of the reply itself
	closing                 // the end of the stream
)

// A frame is one event of a stream, not yet bytes, so that faults can change it.
type frame struct {
	part  part
	item  int    // which item of the answer it belongs to, from 0; -1: none
	event string // the name of the event; empty: it has none
	data  any    // what has a JSON form; a string stands for itself
	raw   []byte // the frame's bytes, in place of all the above
}

type object = map[string]any

// bytes writes the frame as a server-sent event.
func (f frame) bytes(eol string) []byte {
	if f.raw != nil {
		return f.raw
	}
	var b bytes.Buffer
	if f.event != "" {
		b.WriteString("event: " + f.event + eol)
	}
	b.WriteString("data: ")
	if text, ok := f.data.(string); ok {
		b.WriteString(text)
	} else {
		b.Write(marshal(f.data))
	}
	b.WriteString(eol + eol)
	return b.Bytes()
}

// marshal is json.Marshal without escapes for HTML. Raw JSON that is none, such
// as what a fault made of arguments, is written as a string.
func marshal(v any) []byte {
	b, err := wire.Marshal(v)
	if err != nil {
		panic("fakeprovider: " + err.Error()) // all that is sent is made here
	}
	return b
}

// rawOr is text as JSON, or as a JSON string when it is none.
func rawOr(text string) json.RawMessage {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return marshal(text)
}
