package server

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/server/client"
)

// The size of a page of a log.
const (
	usualEntries = 500
	mostEntries  = 5000
	pageBytes    = 4 << 20 // after which a page ends early
)

// events returns a page of a run's log, or follows the log.
func (s *Server) events(x *exchange) (any, error) {
	h, err := s.find(x)
	if err != nil {
		return nil, err
	}
	if x.Method == http.MethodGet && prefers(x.Request, "text/event-stream") {
		return nil, s.stream(x, h.Run)
	}
	size, err := number(x, "max", usualEntries, mostEntries)
	if err != nil {
		return nil, err
	}
	next, err := firstOf(x.Request)
	if err != nil {
		return nil, err
	}
	page := client.Entries{Entries: []json.RawMessage{}}
	bytes, more := 0, false
	for row, err := range s.journal.Read(x.Context(), h.Run, next) {
		if err != nil {
			return nil, err
		}
		if len(page.Entries) == size || bytes > pageBytes {
			more = true
			break
		}
		// Unchanged from the journal, so that a log this build cannot decode can still be read.
		line := redact.JSON(row.Data)
		page.Entries = append(page.Entries, line)
		bytes += len(line)
		next = row.Seq + 1
	}
	if !more {
		if h, err = runs.Head(x.Context(), s.journal, h.Run); err != nil {
			return nil, err
		}
		if h.Status.Ended() && next > h.Seq {
			return page, nil
		}
	}
	page.Next = strconv.FormatUint(next, 10)
	return page, nil
}
