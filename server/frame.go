package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/team"
)

// A frame is one entry in the form that is sent to those who follow its run.
type frame struct {
	seq    uint64 // of the entry; zero: a piece of a reply, which is not in the log
	before uint64 // the seq of the next entry in the log; for an entry, its own
	kind   string // the type of the event
	child  bool   // a piece of a reply of a child run
	ended  bool   // of the frame without text: the run has ended
	line   []byte // the entry, redacted
	text   []byte // the wire form; contains line
}

// envelope is the part of an entry that is read even if another build wrote it.
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

const kindStopped = "run.stopped"

// frame is entryFrame, which for the end of a run that handed over also names the run that it
// handed over to: the log says only which agent that is.
func (s *Server) frame(ctx context.Context, run string, row pawl.Row) frame {
	f := entryFrame(row)
	if f.kind != kindStopped {
		return f
	}
	e, err := pawl.DecodeEntry(f.line)
	if err != nil { // the log of another build
		return f
	}
	end, _ := e.Event.(pawl.RunStopped)
	if _, handed := team.Handed(pawl.Verdict{Status: end.Status, Leaf: end.Leaf}); !handed {
		return f
	}
	h, err := runs.Head(ctx, s.journal, run)
	if err != nil {
		return f
	}
	f.write(fmt.Appendf(nil, `%s,"next_leg":%q}`, bytes.TrimSuffix(f.line, []byte("}")), engine.NextLeg(h.Thread, h.Run)))
	return f
}

// pieceFrame makes the frame of a piece of a reply that is already redacted.
func pieceFrame(run string, e pawl.Entry, before uint64) (frame, bool) {
	line, err := e.AppendJSON(nil)
	if err != nil {
		return frame{}, false
	}
	f := frame{before: before, kind: e.Type(), child: e.Run != run}
	f.write(line)
	return f, true
}

// write makes text from one line: a line break would end it.
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

// redactor redacts the pieces of a reply as they arrive. A secret may be split between two.
type redactor struct {
	at             uint64 // the call
	begun          bool   // its text has
	said           int    // bytes of text that were shown of it
	text, thinking redact.Flow
}

// piece returns what may be shown of a piece, or of the progress of a call, if anything.
func (v *redactor) piece(e pawl.Entry) (pawl.Entry, bool) {
	if p, is := e.Event.(pawl.ToolProgressed); is {
		p.Text = redact.Text(p.Text)
		e.Event = p
		return e, true
	}
	d, ok := e.Event.(pawl.ModelDelta)
	if !ok {
		return e, false
	}
	if e.At != v.at {
		*v = redactor{at: e.At}
	}
	text, call := d.Text != "", d.Tool != ""
	switch {
	case text || call: // the thinking is over
		d.Thinking = v.thinking.Add(d.Thinking) + v.thinking.Close()
	case d.Thinking != "":
		d.Thinking = v.thinking.Add(d.Thinking)
	}
	if text {
		if !v.begun {
			v.begun, v.said = true, d.From // what was before it is missing
		}
		d.Text = v.text.Add(d.Text)
	}
	if call {
		d.Text += v.text.Close()
	}
	d.Tool = redact.Text(d.Tool)
	if d.From = 0; d.Text != "" {
		d.From = v.said
		v.said += len(d.Text)
	}
	e.Event = d
	return e, d != (pawl.ModelDelta{Agent: d.Agent})
}
