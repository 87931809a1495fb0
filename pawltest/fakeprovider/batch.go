package fakeprovider

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"time"
)

// BatchOptions are how a server treats batches: Anthropic's Message Batches, and OpenAI's
// batches of Chat Completions and Responses with their files.
type BatchOptions struct {
	Time time.Duration // that a batch takes; zero: it is done when it is looked at
	// End is how the batches end whose number, from 1, it says something for: expired or
	// canceled, before any of their requests is answered. Nil, or empty: with answers.
	End func(n int) string
	// Lost says whether the answer to the creation of a batch is lost on its way, which
	// the batch survives.
	Lost func(n int) bool
}

// batchJob is a batch.
type batchJob struct {
	id      string
	created time.Time
	lines   []batchLine
	key     http.Header
	meta    map[string]string
	end     string
	results []byte // once it is done
}

type batchLine struct {
	ID     string          `json:"custom_id"`
	Method string          `json:"method"`
	URL    string          `json:"url"`
	Params json.RawMessage `json:"params"`
	Body   json.RawMessage `json:"body"`
}

// Batches is how many batches were created, each of which costs something.
func (s *Server) Batches() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.batches)
}

// serveBatch answers a request about batches or files, and reports whether it is one.
func (s *Server) serveBatch(w http.ResponseWriter, r *http.Request) bool {
	path := r.URL.Path
	at := strings.LastIndex(path, "/batches")
	file := strings.LastIndex(path, "/files")
	if at < 0 && file < 0 {
		return false
	}
	body, _ := io.ReadAll(io.LimitReader(r.Body, int64(s.o.MaxBytes)))
	if s.o.Key != "" && key(r) != s.o.Key {
		reply(w, http.StatusUnauthorized, object{"type": "error", "error": object{"type": "authentication_error", "message": "invalid key"}})
		return true
	}
	if file >= 0 {
		s.serveFile(w, r, body, path[file+len("/files"):])
		return true
	}
	anthropic := strings.HasSuffix(path[:at], "/messages")
	name, action, _ := strings.Cut(strings.TrimPrefix(path[at+len("/batches"):], "/"), "/")
	switch {
	case name == "" && r.Method == http.MethodPost:
		s.createBatch(w, r, body, anthropic)
	case name == "" && r.Method == http.MethodGet:
		s.listBatches(w, anthropic)
	default:
		s.mu.Lock()
		i := slices.IndexFunc(s.batches, func(j *batchJob) bool { return j.id == name })
		s.mu.Unlock()
		if i < 0 {
			reply(w, http.StatusNotFound, object{"type": "error", "error": object{"type": "not_found_error", "message": "no batch " + name}})
			return true
		}
		j := s.batches[i]
		s.settle(j, anthropic)
		switch {
		case action == "results" && j.results != nil:
			_, _ = w.Write(j.results)
		case action == "cancel" && r.Method == http.MethodPost:
			s.mu.Lock()
			if j.results == nil {
				j.end = "canceled"
			}
			s.mu.Unlock()
			s.settle(j, anthropic)
			fallthrough
		case action == "":
			reply(w, http.StatusOK, s.shown(j, anthropic))
		default:
			reply(w, http.StatusNotFound, object{"type": "error", "error": object{"type": "not_found_error", "message": "no results"}})
		}
	}
	return true
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(marshal(v), '\n'))
}

// serveFile takes the upload of a file, or gives one out.
func (s *Server) serveFile(w http.ResponseWriter, r *http.Request, body []byte, rest string) {
	if r.Method == http.MethodPost && rest == "" {
		r.Body = io.NopCloser(bytes.NewReader(body))
		f, _, err := r.FormFile("file")
		if err != nil || r.FormValue("purpose") != "batch" {
			reply(w, http.StatusBadRequest, object{"error": object{"type": "invalid_request_error", "message": fmt.Sprintf("want a file for purpose batch: %v", err)}})
			return
		}
		data, _ := io.ReadAll(f)
		s.mu.Lock()
		s.files = append(s.files, data)
		id := fmt.Sprintf("file-%d", len(s.files))
		s.mu.Unlock()
		reply(w, http.StatusOK, object{"id": id, "object": "file", "bytes": len(data), "purpose": "batch", "status": "processed"})
		return
	}
	name := strings.TrimSuffix(strings.TrimPrefix(rest, "/"), "/content")
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range s.batches {
		if name == "out-"+j.id && j.results != nil {
			_, _ = w.Write(j.results)
			return
		}
	}
	reply(w, http.StatusNotFound, object{"error": object{"type": "invalid_request_error", "message": "No such File object: " + name}})
}

// createBatch takes a batch.
func (s *Server) createBatch(w http.ResponseWriter, r *http.Request, body []byte, anthropic bool) {
	var asked struct {
		Requests []batchLine       `json:"requests"`
		File     string            `json:"input_file_id"`
		Endpoint string            `json:"endpoint"`
		Window   string            `json:"completion_window"`
		Metadata map[string]string `json:"metadata"`
	}
	bad := func(why string) {
		reply(w, http.StatusBadRequest, object{"type": "error", "error": object{"type": "invalid_request_error", "message": why}})
	}
	if err := json.Unmarshal(body, &asked); err != nil {
		bad(err.Error())
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := asked.Requests
	if !anthropic {
		var n int
		if _, err := fmt.Sscanf(asked.File, "file-%d", &n); err != nil || n < 1 || n > len(s.files) || asked.Window != "24h" {
			bad("want an input_file_id and a completion_window of 24h")
			return
		}
		for line := range bytes.Lines(s.files[n-1]) {
			var l batchLine
			if err := json.Unmarshal(line, &l); err != nil || l.URL != asked.Endpoint || l.Method != http.MethodPost {
				bad("a line of the file is not for the endpoint")
				return
			}
			lines = append(lines, l)
		}
	}
	for _, l := range lines {
		if l.ID == "" || len(l.ID) > 64 {
			bad("custom_id: want 1 to 64 letters")
			return
		}
	}
	if len(lines) == 0 {
		bad("requests: want at least one")
		return
	}
	n := len(s.batches) + 1
	j := &batchJob{id: fmt.Sprintf("batch_%d", n), created: time.Now(), lines: lines, key: r.Header.Clone(), meta: asked.Metadata}
	if s.o.Batch.End != nil {
		j.end = s.o.Batch.End(n)
	}
	s.batches = append(s.batches, j)
	if s.o.Batch.Lost != nil && s.o.Batch.Lost(n) {
		abort(w)
	}
	reply(w, http.StatusOK, s.shown(j, anthropic))
}

// settle answers the requests of a batch whose time has come.
func (s *Server) settle(j *batchJob, anthropic bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j.results != nil || j.end != "canceled" && time.Since(j.created) < s.o.Batch.Time {
		return
	}
	j.results = []byte{}
	for _, l := range j.lines {
		var line object
		switch {
		case j.end != "" && anthropic:
			line = object{"custom_id": l.ID, "result": object{"type": j.end}}
		case j.end != "":
			continue
		default:
			line = s.answerLine(j, l, anthropic)
		}
		j.results = append(append(j.results, marshal(line)...), '\n')
	}
}

// answerLine asks the server itself. The caller holds the lock.
func (s *Server) answerLine(j *batchJob, l batchLine, anthropic bool) object {
	path, body := l.URL, l.Body
	if anthropic {
		path, body = "/v1/messages", l.Params
	}
	r := httptest.NewRequest(http.MethodPost, path, bytes.NewReader(body))
	r.Header = j.key.Clone()
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	s.mu.Unlock()
	s.ServeHTTP(w, r)
	s.mu.Lock()
	answer := json.RawMessage(bytes.TrimSpace(w.Body.Bytes()))
	switch {
	case !anthropic:
		return object{"id": "batch_req_1", "custom_id": l.ID, "response": object{"status_code": w.Code, "body": answer}, "error": nil}
	case w.Code < 300:
		return object{"custom_id": l.ID, "result": object{"type": "succeeded", "message": answer}}
	}
	return object{"custom_id": l.ID, "result": object{"type": "errored", "error": answer}}
}

// shown is how a batch is described. The caller holds the lock, or nobody else has the job.
func (s *Server) shown(j *batchJob, anthropic bool) object {
	done := j.results != nil
	if anthropic {
		status, counts := "in_progress", object{"processing": len(j.lines), "succeeded": 0, "errored": 0, "canceled": 0, "expired": 0}
		if done {
			status = "ended"
			counts["processing"] = 0
			kind := j.end
			if kind == "" {
				kind = "succeeded"
			}
			counts[kind] = len(j.lines)
		}
		return object{"id": j.id, "type": "message_batch", "processing_status": status, "request_counts": counts, "created_at": j.created.UTC().Format(time.RFC3339Nano), "expires_at": j.created.Add(24 * time.Hour).UTC().Format(time.RFC3339Nano)}
	}
	o := object{"id": j.id, "object": "batch", "status": "in_progress", "created_at": j.created.Unix(), "metadata": j.meta, "output_file_id": nil, "error_file_id": nil, "errors": nil}
	if done {
		o["status"] = map[string]string{"": "completed", "canceled": "cancelled", "expired": "expired"}[j.end]
		if j.end == "" {
			o["output_file_id"] = "out-" + j.id
		}
	}
	return o
}

// listBatches lists the batches, newest first.
func (s *Server) listBatches(w http.ResponseWriter, anthropic bool) {
	s.mu.Lock()
	jobs := slices.Clone(s.batches)
	s.mu.Unlock()
	list := []object{}
	for _, j := range slices.Backward(jobs) {
		s.settle(j, anthropic)
		list = append(list, s.shown(j, anthropic))
	}
	reply(w, http.StatusOK, object{"data": list, "has_more": false, "object": "list"})
}
