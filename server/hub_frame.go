package server

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/redact"
)

// A frame is one entry as all who watch its run are sent it. It is made once and
// shared, and nothing in it is changed.
type frame struct {
	seq    uint64 // of the entry; zero: it is a piece of a reply, which is in no log
	before uint64 // the seq of the entry that comes next in the log: its own, if it has one
	at     uint64 // of a piece: the call it is of
	kind   string // the type of the event
	line   []byte // the entry, redacted
	text   []byte // how it goes over the wire; line is a part of it
}

// envelope is what is read of an entry that may be of a build yet to come.
type envelope struct {
	Type string `json:"type"`
}

// entryFrame makes the frame of a line of the log.
func entryFrame(row pawl.Row) frame {
	line := redact.JSON(row.Data)
	var e envelope
	if json.Unmarshal(line, &e) != nil || e.Type == "" {
		e.Type = "message"
	}
	f := frame{seq: row.Seq, before: row.Seq, kind: e.Type}
	f.write(line)
	return f
}

// pieceFrame makes the frame of a piece of a reply, of which what may be shown
// has been told apart already.
func pieceFrame(e pawl.Entry, before uint64) (frame, bool) {
	line, err := e.AppendJSON(nil)
	if err != nil {
		return frame{}, false
	}
	f := frame{before: before, at: e.At, kind: e.Type()}
	f.write(line)
	return f, true
}

// write makes text, in which line is one line: a line break in it would end it.
func (f *frame) write(line []byte) {
	if bytes.ContainsAny(line, "\r\n") {
		var flat bytes.Buffer
		if json.Compact(&flat, line) != nil {
			flat.Reset()
			flat.Write(bytes.Join(bytes.Fields(line), []byte(" ")))
		}
		line = flat.Bytes()
	}
	b := make([]byte, 0, len(line)+len(f.kind)+40)
	if f.seq != 0 {
		b = append(b, "id: "...)
		b = strconv.AppendUint(b, f.seq, 10)
		b = append(b, '\n')
	}
	b = append(b, "event: "...)
	b = append(b, f.kind...)
	b = append(b, "\ndata: "...)
	from := len(b)
	b = append(b, line...)
	f.text = append(b, "\n\n"...)
	f.line = f.text[from : from+len(line) : from+len(line)]
}

// veil redacts the pieces of a reply as they come. A secret may be cut between
// two of them.
type veil struct {
	at             uint64 // the call
	text, thinking redact.Flow
}

// piece is what may be shown of one, if anything.
func (v *veil) piece(e pawl.Entry) (pawl.Entry, bool) {
	d, ok := e.Event.(pawl.ModelDelta)
	if !ok {
		return e, false
	}
	if e.At != v.at {
		*v = veil{at: e.At}
	}
	text, call := d.Text != "", d.Tool != ""
	switch {
	case text || call: // no more is being thought before it
		d.Thinking = v.thinking.Add(d.Thinking) + v.thinking.Close()
	case d.Thinking != "":
		d.Thinking = v.thinking.Add(d.Thinking)
	}
	if text {
		d.Text = v.text.Add(d.Text)
	}
	if call {
		d.Text += v.text.Close()
	}
	d.Tool = redact.Text(d.Tool)
	e.Event = d
	return e, d != (pawl.ModelDelta{})
}
