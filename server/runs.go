package server

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/journals"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/runs/worker"
	"github.com/pawl-run/pawl/server/client"
)

// How many runs a page has.
const (
	usualRuns = 50
	mostRuns  = 200
)

// mostQuery is the length of a text that is searched for, in bytes.
const mostQuery = 500

// A cursor of a list names the last few runs of a page, since some may have been removed
// when the client asks for the next page.
const cursorRuns = 3

// paged calls each with the runs of a page that the key may see, and returns the cursor of the next page; empty: there
// is none. A page begins after the last run of the previous page, so that new runs do not shift it.
func (s *Server) paged(x *exchange, f runs.Filter, size int, each func(pawl.Head) error) (next string, bad error) {
	cheap := f.Skip
	f.Skip = func(h pawl.Head) bool {
		if cheap != nil && cheap(h) {
			return true
		}
		visible, err := s.visible(x.Context(), x.key, h)
		bad = errors.Join(bad, err)
		return !visible
	}
	var page []string
	for h, err := range runs.List(x.Context(), s.journal, f) {
		switch {
		case errors.Is(err, runs.ErrGone), errors.Is(err, pawl.ErrUnknownRun):
			return "", refusal(http.StatusConflict, err.Error())
		case errors.Is(err, runs.ErrNoSearch):
			return "", invalid(err.Error())
		case err != nil:
			return "", err
		case len(page) == size: // there are more
			last, err := json.Marshal(page[max(0, len(page)-cursorRuns):])
			return base64.RawURLEncoding.EncodeToString(last), errors.Join(bad, err)
		}
		if err := each(h); err != nil {
			return "", err
		}
		page = append(page, h.Run)
	}
	return "", bad
}

func parseCursor(text string) (runs []string, err error) {
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(data, &runs)
	}
	if err != nil || len(runs) == 0 || len(runs) > cursorRuns {
		return nil, invalid("invalid cursor; leave it out to start from the beginning")
	}
	return runs, nil
}

func (s *Server) show(x *exchange) (any, error) {
	h, err := s.find(x)
	if err != nil {
		return nil, err
	}
	r, err := runs.Report(x.Context(), s.journal, h, s.options.Place)
	return r.Result, err
}

func (s *Server) explain(x *exchange) (any, error) {
	h, err := s.find(x)
	if err != nil {
		return nil, err
	}
	r, err := runs.Report(x.Context(), s.journal, h, s.options.Place)
	x.ResponseWriter.Header().Add("Vary", "Accept")
	if err != nil || !prefers(x.Request, "text/markdown") {
		return r, err
	}
	x.ResponseWriter.Header().Set("Content-Type", "text/markdown; charset=utf-8")
	_, _ = io.WriteString(x.ResponseWriter, r.Markdown())
	return nil, nil
}

// list returns a page of the runs that the key may see.
func (s *Server) list(x *exchange) (any, error) {
	f, size, err := s.filter(x)
	if err != nil {
		return nil, err
	}
	page := client.Runs{Runs: []client.RunLine{}}
	if f.Query.Labels == nil {
		return page, nil // the key cannot see the requested labels
	}
	brief, err := truth(x.Request, "brief")
	if err != nil {
		return nil, err
	}
	queue := runs.Positions{Journal: s.journal}
	page.Next, err = s.paged(x, f, size, func(h pawl.Head) (err error) {
		line := client.LineOf(h)
		if line.Position, err = queue.Of(x.Context(), h); err != nil {
			return err
		}
		for name, value := range line.Labels {
			line.Labels[name] = redact.Text(value)
		}
		if brief {
			b, err := s.briefs.of(h, func() (runs.Brief, error) { return runs.BriefOf(x.Context(), s.journal, h) })
			if err != nil {
				return err
			}
			line.Input, line.Answer, line.Waits = b.Input, b.Answer, b.Waits
		}
		page.Runs = append(page.Runs, line)
		return nil
	})
	return page, err
}

// filter parses the query of a list. It returns no labels if the query asks for runs
// that its key may not see.
func (s *Server) filter(x *exchange) (f runs.Filter, size int, err error) {
	q := x.URL.Query()
	f.Query = pawl.Query{Run: q.Get("run"), Agent: q.Get("agent"), Loop: q.Get("loop"), Labels: map[string]string{}}
	if f.Query.Thread, err = s.thread(x, q.Get("thread")); err != nil {
		return f, 0, err
	}
	if status := q.Get("status"); status != "" {
		if err := f.SetStatus(status); err != nil {
			return f, 0, invalid("status: " + err.Error())
		}
	}
	if f.Children, err = truth(x.Request, "children"); err != nil {
		return f, 0, err
	}
	if f.Search = q.Get("q"); f.Search != "" && (len(f.Search) > mostQuery || !strings.ContainsFunc(f.Search, journals.WordPart)) {
		return f, 0, invalid(fmt.Sprintf("q is a text of at most %d bytes with a letter or digit in it", mostQuery))
	}
	for name, to := range map[string]*time.Time{"since": &f.Query.Since, "until": &f.Query.Until} {
		if text := q.Get(name); text != "" {
			if *to, err = time.Parse(time.RFC3339, text); err != nil {
				return f, 0, invalid(fmt.Sprintf("%s is %q; write a time such as 2026-01-31T08:00:00Z", name, text))
			}
		}
	}
	if text := q.Get("min_cost"); text != "" {
		least, err := strconv.ParseFloat(text, 64)
		if err != nil || !(least >= 0) {
			return f, 0, invalid(fmt.Sprintf("min_cost is %q; write dollars such as 0.50", text))
		}
		f.Skip = func(h pawl.Head) bool { return !h.Priced || h.Cost < least }
	}
	for _, label := range q["label"] {
		name, value, ok := strings.Cut(label, "=")
		if !ok || name == "" {
			return f, 0, invalid(fmt.Sprintf("label is %q; write KEY=VALUE", label))
		}
		f.Query.Labels[name] = value
	}
	if size, err = number(x, "max", usualRuns, mostRuns); err != nil {
		return f, 0, err
	}
	if text := q.Get("cursor"); text != "" {
		if f.After, err = parseCursor(text); err != nil {
			return f, 0, err
		}
	}
	if !f.Children { // children do not have their root's labels
		for name, value := range x.key.Labels {
			if other, ok := f.Query.Labels[name]; ok && other != value {
				f.Query.Labels = nil
				break
			}
			f.Query.Labels[name] = value
		}
	}
	return f, size, nil
}

// start starts a run.
func (s *Server) start(x *exchange) (any, error) {
	in := x.body.(*client.StartRun)
	if (in.Agent == "") == (in.Spec == nil) {
		return nil, invalid("send either agent or spec")
	}
	limits, err := limitsOf(in.Limits, false)
	if err != nil {
		return nil, err
	}
	if len(in.IdempotencyKey) > mostID || len(in.Thread) > mostID {
		return nil, invalid(fmt.Sprintf("idempotency_key and thread have at most %d bytes", mostID))
	}
	if err := x.key.grants(in.Labels); err != nil {
		return nil, err
	}
	if in.Spec != nil && in.Queue {
		return nil, invalid("a run of a spec in the request cannot be queued, since no worker has its agent; name an agent, or leave out queue")
	}
	w, err := s.host.Start(x.Context(), in.Agent, in.Spec)
	if err != nil {
		return nil, err
	}
	if in.Input != "" {
		w.Input = in.Input
	}
	files := in.Files
	if files == nil {
		if files, err = attached(w); err != nil {
			w.Drop()
			return nil, err
		}
	}
	if strings.TrimSpace(w.Input) == "" && len(files) == 0 && asks(w.Agent) {
		w.Drop()
		return nil, invalid("input is missing, and the agent has no default input")
	}
	if in.Thread != "" {
		w.Thread = in.Thread
	}
	if !in.Queue {
		if err := w.Engine.Ready(x.Context(), w.Agent, 0); err != nil {
			w.Drop()
			return nil, err
		}
	}
	return s.begin(x, w, limits, engine.StartOptions{Labels: in.Labels, Key: in.IdempotencyKey, Files: files}, in.Queue)
}

// attached reads the default files of a work.
func attached(w worker.Work) (files []pawl.File, err error) {
	for _, path := range w.Files {
		f, err := engine.ReadFile(path)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// begin starts a run of a work with a client's limits and options, or queues it, and returns its result.
func (s *Server) begin(x *exchange, w worker.Work, limits runs.Limits, o engine.StartOptions, queue bool) (any, error) {
	h, err := s.launch(x, w, limits, o, queue)
	if err != nil {
		return nil, err
	}
	return s.after(x, h.ID(), h)
}

// launch starts a run of a work, or queues it, or finds the one that was started under its key.
func (s *Server) launch(x *exchange, w worker.Work, limits runs.Limits, o engine.StartOptions, queue bool) (h *engine.Handle, err error) {
	over, err := w.Raise(w.Agent.Limits, limits)
	if err == nil {
		o.Thread, err = s.thread(x, w.Thread)
	}
	w.Agent.Limits = w.Agent.Limits.Merge(over)
	o.Labels, o.Key = runs.Labels(w.Agent.Labels, o.Labels, x.key.Labels), x.key.own(o.Key)
	start := w.Engine.Start
	if queue {
		start = w.Engine.Queue
		if wrong := journals.CheckLane(o.Labels); err == nil && wrong != nil {
			err = invalid(wrong.Error())
		}
	}
	if err != nil {
		w.Drop()
		return nil, err
	}
	begin := asked(x, func(ctx context.Context) (*engine.Handle, error) { return start(ctx, w.Agent, w.Input, &o) })
	if queue {
		defer w.Drop()
		h, err = begin(x.Context())
	} else {
		h, err = s.worker.Drive(w, begin)
	}
	if err == nil && h.Found() {
		x.ResponseWriter.Header().Set(replayedHeader, "true")
	}
	return h, err
}

// replayedHeader says that the run already existed under the request's key. The status
// stays the original one, as in the IETF draft of Idempotency-Key, so that a client that
// lost an answer handles the second like the first.
const replayedHeader = "Idempotent-Replayed"

// limitsOf parses a client's limits.
func limitsOf(said client.Limits, relative bool) (l runs.Limits, err error) {
	for name, raw := range said {
		value := string(raw)
		if text := ""; json.Unmarshal(raw, &text) == nil {
			value = text
		}
		if err := l.Say(name, value, relative); err != nil {
			return l, invalid(fmt.Sprintf(`limits: %s: %v; send for example {"iterations": 20, "time": "30m", "cost": 2.00}`, name, err))
		}
	}
	return l, nil
}

// truth parses a parameter that is true or false.
func truth(r *http.Request, name string) (bool, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return false, nil
	}
	is, err := strconv.ParseBool(text)
	if err != nil {
		return false, invalid(fmt.Sprintf("%s is %q; write true or false", name, text))
	}
	return is, nil
}

// number parses a parameter that is a count of at least 1; larger ones are capped at
// most.
func number(x *exchange, name string, usual, most int) (int, error) {
	text := x.URL.Query().Get(name)
	if text == "" {
		return usual, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, refusal(http.StatusUnprocessableEntity, fmt.Sprintf("%s is %q; write a number of at least 1", name, text))
	}
	return min(n, most), nil
}
