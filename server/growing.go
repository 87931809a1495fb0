package server

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
)

// growing makes frames of a run's answer as it grows, of the frames of its entries.
type growing struct{ answer engine.Growing }

// growing returns what the reader of a stream wants; nil: only entries.
func (s *Server) growing(ctx context.Context, r *http.Request, run string, after uint64) (*growing, error) {
	if wanted, err := truth(r, "partial"); err != nil || !wanted {
		return nil, err
	}
	g := new(growing)
	if after == 0 {
		return g, nil
	}
	for row, err := range s.journal.Read(ctx, run, 1) { // which says the schema
		if err != nil {
			return nil, err
		}
		if e, err := pawl.DecodeEntry(row.Data); err == nil {
			g.answer.Add(e)
		}
		break
	}
	return g, nil
}

// add returns the frame that follows a frame; false: no more of the answer is known.
func (g *growing) add(f frame) (frame, bool) {
	if g == nil || f.child || f.text == nil {
		return f, false
	}
	e, err := pawl.DecodeEntry(f.line)
	if err != nil {
		return f, false // of another build
	}
	document := g.answer.Add(e)
	if document == nil {
		return f, false
	}
	line, err := json.Marshal(struct {
		Run    string          `json:"run"`
		At     uint64          `json:"at"`
		Output json.RawMessage `json:"output"`
	}{e.Run, f.at, document})
	if err != nil {
		return f, false
	}
	part := frame{kind: "answer.partial"}
	part.write(line)
	return part, true
}
