package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"reflect"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/internal/retry"
	"github.com/pawl-run/pawl/internal/wire"
	"github.com/pawl-run/pawl/server/client"
)

// mostBody is the size limit of a request's body.
const mostBody = 1 << 20

// ServeHTTP handles a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	begun := time.Now()
	rec := &recorder{ResponseWriter: w}
	defer func() {
		if p := recover(); p != nil {
			if p == http.ErrAbortHandler {
				panic(p)
			}
			s.log.Error("handler panicked", "method", r.Method, "path", r.URL.Path, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			if rec.status == 0 {
				s.refuse(rec, r, refusal(http.StatusInternalServerError, "internal error; see the server's log"))
			}
		}
		s.log.Debug("answered", "method", r.Method, "path", r.URL.Path, "status", rec.status, "took", time.Since(begun), "from", r.RemoteAddr)
	}()
	harden(w.Header())
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Time{}) // the connection may have the deadline of an earlier request
	if r.ContentLength != 0 {
		// Unread bodies need the deadline, too: the connection is not free before they have
		// arrived. An error means that there is no connection.
		_ = control.SetReadDeadline(begun.Add(s.patient))
	}
	if err := s.guard(r); err != nil {
		s.refuse(rec, r, err)
		return
	}
	s.mux.ServeHTTP(rec, r)
}

// recorder is a writer that remembers the status.
type recorder struct {
	http.ResponseWriter
	status int
}

func (w *recorder) WriteHeader(status int) {
	w.status = cmp.Or(w.status, status)
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) Write(b []byte) (int, error) {
	w.status = cmp.Or(w.status, http.StatusOK)
	return w.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// answer checks a request, calls its route, and writes the result.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, to *route) {
	x := &exchange{ResponseWriter: w, Request: r}
	err := s.admit(x, to)
	if err == nil {
		err = s.read(x, to)
	}
	var reply any
	if err == nil {
		reply, err = to.do(s, x)
	}
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	if reply == nil {
		return // the route has written it
	}
	s.write(w, cmp.Or(to.status, http.StatusOK), "application/json", reply)
}

// admit finds the key of a request.
func (s *Server) admit(x *exchange, to *route) error {
	if to.scope == 0 || to.near && near(x.Request) {
		return nil
	}
	if err := s.identify(x); err != nil {
		return err
	}
	if !x.key.allows(to.scope) {
		return x.lacks(to.scope, to.name)
	}
	return nil
}

// identify finds the key of a request that needs one.
func (s *Server) identify(x *exchange) error {
	kind, token, _ := strings.Cut(x.Request.Header.Get("Authorization"), " ")
	token = strings.TrimSpace(token)
	if x.Request.Header.Get("Authorization") == "" {
		x.key = s.keyOfSession(x.Request)
	}
	switch {
	case x.key != nil:
	case token == "" || !strings.EqualFold(kind, "bearer"):
		x.ResponseWriter.Header().Set("WWW-Authenticate", `Bearer realm="pawl"`)
		return refusal(http.StatusUnauthorized, "the request has no token; send it as a bearer token in the header Authorization")
	default:
		x.key = s.keyOf(token)
	}
	if x.key == nil {
		x.ResponseWriter.Header().Set("WWW-Authenticate", `Bearer realm="pawl", error="invalid_token"`)
		return refusal(http.StatusUnauthorized, "unknown token")
	}
	return nil
}

// read reads a request's body.
func (s *Server) read(x *exchange, to *route) error {
	if to.body == nil {
		return nil
	}
	var err error
	if x.wait, err = truth(x.Request, waiting.name); err != nil {
		return err
	}
	x.body = reflect.New(reflect.TypeOf(to.body).Elem()).Interface()
	if start, ok := x.body.(*client.StartRun); ok {
		if kind, _, _ := mime.ParseMediaType(x.Request.Header.Get("Content-Type")); kind == formMedia {
			return s.readForm(x, start)
		}
	}
	data, err := s.receive(x, "application/json")
	_, start := x.body.(*client.StartRun)
	if err != nil || len(data) == 0 && !start {
		return err
	}
	return decode(data, x.body)
}

// receive reads a body of one of some types.
func (s *Server) receive(x *exchange, media ...string) ([]byte, error) {
	if x.ContentLength > mostBody {
		x.ResponseWriter.Header().Set("Connection", "close")
		return nil, tooLarge()
	}
	if x.ContentLength != 0 {
		kind, parameters, err := mime.ParseMediaType(x.Request.Header.Get("Content-Type"))
		if charset := parameters["charset"]; err != nil || !slices.Contains(media, kind) || charset != "" && !strings.EqualFold(charset, "utf-8") {
			return nil, refusal(http.StatusUnsupportedMediaType, fmt.Sprintf("the body has type %q; send %s", x.Request.Header.Get("Content-Type"), media[0]))
		}
	}
	data, err := io.ReadAll(http.MaxBytesReader(x.ResponseWriter, x.Request.Body, mostBody))
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		return nil, tooLarge()
	case err != nil:
		x.ResponseWriter.Header().Set("Connection", "close")
		return nil, refusal(http.StatusRequestTimeout, fmt.Sprintf("the body did not arrive within %v", s.patient))
	}
	// From here on reading only detects that the client has gone.
	_ = http.NewResponseController(x.ResponseWriter).SetReadDeadline(time.Time{})
	return wire.Unmarked(data), nil
}

func tooLarge() error {
	return refusal(http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is larger than %d KiB", mostBody>>10))
}

// decode reads one JSON object. Malformed JSON, duplicate keys and invalid UTF-8 are bad
// requests; unknown keys and wrong types make it invalid.
func decode(data []byte, to any) error {
	if _, err := wire.Decode(data); err != nil { // also what parsers may read differently
		return refusal(http.StatusBadRequest, "the body is not JSON: "+err.Error())
	}
	if key := twice(data); key != "" {
		return refusal(http.StatusBadRequest, fmt.Sprintf("the body has %q twice, differing in case", key))
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	err := d.Decode(to)
	switch another, mistyped := errors.AsType[*json.UnmarshalTypeError](err); {
	case mistyped && another.Field != "":
		return invalid(mistypedText(another))
	case mistyped, bytes.Equal(bytes.TrimSpace(data), []byte("null")):
		return invalid("the body is not an object; see GET /openapi.json")
	case err != nil:
		return invalid("the body has an " + strings.TrimPrefix(err.Error(), "json: ") + "; see GET /openapi.json")
	}
	return nil
}

func mistypedText(err *json.UnmarshalTypeError) string {
	return fmt.Sprintf("%s cannot be a JSON %s; see GET /openapi.json", err.Field, err.Value)
}

// twice returns a key that occurs twice in an object for package json, which ignores
// case; empty: none does.
func twice(data []byte) string {
	var object map[string]json.RawMessage
	if json.Unmarshal(data, &object) != nil {
		return ""
	}
	seen := map[string]bool{}
	for key := range object {
		folded := strings.ToLower(key)
		if seen[folded] {
			return folded
		}
		seen[folded] = true
	}
	return ""
}

// write writes a document.
func (s *Server) write(w http.ResponseWriter, status int, media string, v any) {
	data, err := wire.Marshal(v)
	if err != nil {
		s.log.Error("cannot encode the answer", "error", err)
		http.Error(w, "", http.StatusInternalServerError)
		return
	}
	// Drop a client that does not read its answer. The client may take some time to send
	// its request first, hence twice the limit.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(2 * s.patient))
	w.Header().Set("Content-Type", media)
	w.WriteHeader(status)
	_, _ = w.Write(append(data, '\n')) //nolint:gosec // it is JSON by its media type; the client may be gone
}

// askAgain is the Retry-After for an answer that is unavailable for now, in seconds. The
// journal itself has retried before.
const askAgain = "2"

// refuse writes a problem (RFC 9457). The cause of an internal error goes only to the
// log.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	problem, _ := errors.AsType[*client.Problem](s.told(r, err))
	retryAfter(w.Header(), problem.Status, err)
	told := *problem
	told.Detail = redact.Text(told.Detail)
	var body any = told
	if strings.HasPrefix(r.URL.Path, "/v1/chat/") {
		body = chatProblem{told, map[string]string{"message": told.Detail}}
	}
	s.write(w, told.Status, "application/problem+json", body)
}

// retryAfter says when to repeat a request that is refused for now.
func retryAfter(h http.Header, status int, err error) {
	busy, ok := errors.AsType[*engine.BusyError](err)
	switch {
	case ok && busy.Wait > 0:
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(busy.Wait.Seconds()))))
	case h.Get("Retry-After") == "" && (status == http.StatusTooManyRequests || retry.Temporary(err)):
		h.Set("Retry-After", askAgain)
	}
}

// told is an error as clients see it, a *client.Problem.
func (s *Server) told(r *http.Request, err error) error {
	if problem, ok := errors.AsType[*client.Problem](ProblemOf(err)); ok {
		return problem
	}
	if r.Context().Err() != nil && errors.Is(err, context.Canceled) {
		panic(http.ErrAbortHandler) // the client has gone
	}
	s.log.Error("request failed", "method", r.Method, "path", r.URL.Path, "error", err)
	if retry.Temporary(err) {
		return refusal(http.StatusServiceUnavailable, "the journal of runs is unavailable; retry in a few seconds")
	}
	return refusal(http.StatusInternalServerError, "internal error; see the server's log")
}

// lacks refuses an operation because the request's token has not the scope.
func (x *exchange) lacks(scope Scope, operation string) error {
	x.ResponseWriter.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="pawl", error="insufficient_scope", scope=%q`, scope))
	return refusal(http.StatusForbidden, fmt.Sprintf("the token does not allow %v; use a token with the scope %q", operation, scope))
}
