package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"reflect"
	"runtime/debug"
	"strings"
	"time"

	"github.com/pawl-run/pawl/internal/canon"
	"github.com/pawl-run/pawl/internal/outage"
	"github.com/pawl-run/pawl/internal/redact"
	"github.com/pawl-run/pawl/internal/wire"
	"github.com/pawl-run/pawl/server/client"
)

// mostBody is the most that a request may say.
const mostBody = 1 << 20

// ServeHTTP answers a request.
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
				s.refuse(rec, r, refusal(http.StatusInternalServerError, "the server is at fault; its log says more"))
			}
		}
		s.log.Debug("answered", "method", r.Method, "path", r.URL.Path, "status", rec.status, "took", time.Since(begun), "from", r.RemoteAddr)
	}()
	harden(w.Header())
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Time{}) // the connection may have one of the request before
	if r.ContentLength != 0 {
		// Also of a body that nobody reads: the connection is not free before it has
		// come. What cannot set it is no connection.
		_ = control.SetReadDeadline(begun.Add(s.patient))
	}
	if err := s.guard(r); err != nil {
		s.refuse(rec, r, err)
		return
	}
	s.mux.ServeHTTP(rec, r)
}

// recorder is a writer of which it is known what was answered.
type recorder struct {
	http.ResponseWriter
	status int
}

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// answer checks what a request may do and says, has the route do it, and writes
// what comes of it.
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
	status := to.status
	if status == 0 {
		status = http.StatusOK
	}
	s.write(w, status, "application/json", reply)
}

// admit finds the key of a request.
func (s *Server) admit(x *exchange, to *route) error {
	if to.scope == 0 || to.near && near(x.Request) {
		return nil
	}
	kind, token, _ := strings.Cut(x.Request.Header.Get("Authorization"), " ")
	token = strings.TrimSpace(token)
	if x.Request.Header.Get("Authorization") == "" {
		x.key = s.keyOfSession(x.Request)
	}
	switch {
	case x.key != nil:
	case token == "" || !strings.EqualFold(kind, "bearer"):
		x.ResponseWriter.Header().Set("WWW-Authenticate", `Bearer realm="pawl"`)
		return refusal(http.StatusUnauthorized, "there is no token; it is sent as a bearer token in the header Authorization")
	default:
		x.key = s.keyOf(token)
	}
	if x.key == nil {
		x.ResponseWriter.Header().Set("WWW-Authenticate", `Bearer realm="pawl", error="invalid_token"`)
		return refusal(http.StatusUnauthorized, "the token is none of this server's")
	}
	if !x.key.allows(to.scope) {
		x.ResponseWriter.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="pawl", error="insufficient_scope", scope=%q`, to.scope))
		return refusal(http.StatusForbidden, fmt.Sprintf("the token does not allow to %v; it takes one with the scope %q", to.name, to.scope))
	}
	return nil
}

// read reads what a request says.
func (s *Server) read(x *exchange, to *route) error {
	if to.body == nil {
		return nil
	}
	var err error
	if x.wait, err = truth(x, waiting.name); err != nil {
		return err
	}
	x.body = reflect.New(reflect.TypeOf(to.body).Elem()).Interface()
	if x.ContentLength > mostBody {
		x.ResponseWriter.Header().Set("Connection", "close")
		return tooLarge()
	}
	if x.ContentLength != 0 {
		if kind, _, err := mime.ParseMediaType(x.Request.Header.Get("Content-Type")); err != nil || kind != "application/json" {
			return refusal(http.StatusUnsupportedMediaType, fmt.Sprintf("the body is %q; send application/json", x.Request.Header.Get("Content-Type")))
		}
	}
	data, err := io.ReadAll(http.MaxBytesReader(x.ResponseWriter, x.Request.Body, mostBody))
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		return tooLarge()
	case err != nil:
		x.ResponseWriter.Header().Set("Connection", "close")
		return refusal(http.StatusRequestTimeout, fmt.Sprintf("the body did not come whole within %v", s.patient))
	}
	// From here on the connection is only read to learn that the client has gone.
	_ = http.NewResponseController(x.ResponseWriter).SetReadDeadline(time.Time{})
	if len(data) == 0 {
		return nil
	}
	return decode(data, x.body)
}

func tooLarge() error {
	return refusal(http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is larger than %d KiB", mostBody>>10))
}

// decode reads one JSON object without unknown keys. What is no JSON, has a key
// twice or is not UTF-8 is a bad request; other faults make it invalid.
func decode(data []byte, to any) error {
	if _, err := canon.Canonical(nil, data); err != nil { // also what two readers would read as two things
		return refusal(http.StatusBadRequest, "the body is no JSON: "+err.Error())
	}
	if key := twice(data); key != "" {
		return refusal(http.StatusBadRequest, fmt.Sprintf("the body has %q twice, in letters of another case", key))
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	err := d.Decode(to)
	switch another, mistyped := errors.AsType[*json.UnmarshalTypeError](err); {
	case mistyped && another.Field != "":
		return invalid(fmt.Sprintf("%s is %s; GET /openapi.json says what it must be", another.Field, kindOf(another.Value)))
	case mistyped, bytes.Equal(bytes.TrimSpace(data), []byte("null")):
		return invalid("the body is no object; GET /openapi.json says what it must be")
	case err != nil:
		return invalid("the body has an " + strings.TrimPrefix(err.Error(), "json: ") + "; GET /openapi.json says which there are")
	}
	return nil
}

// twice is a key of an object that stands in it twice for package json, which does
// not tell capital letters from small ones; empty: there is none.
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

// kindOf is what a JSON value is that package json calls a number, a string, an
// array and so on, or the number that it is.
func kindOf(value string) string {
	kind, which, _ := strings.Cut(value, " ")
	if which != "" {
		return which // a number that is too large, too small or not whole
	}
	switch kind {
	case "array", "object":
		return "an " + kind
	case "string":
		return "a text"
	case "bool":
		return "true or false"
	default:
		return "a " + kind
	}
}

// write writes a document.
func (s *Server) write(w http.ResponseWriter, status int, media string, v any) {
	data, err := wire.Marshal(v)
	if err != nil {
		s.log.Error("answer cannot be written", "error", err)
		http.Error(w, "", http.StatusInternalServerError)
		return
	}
	// Who does not read what he asked for is not waited for. What he has to say may
	// be waited for before it is sent, hence twice as long.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(2 * s.patient))
	w.Header().Set("Content-Type", media)
	w.WriteHeader(status)
	_, _ = w.Write(append(data, '\n')) // who does not want it any more is not missed
}

// askAgain is when it is worth asking again what could not be answered for now,
// in seconds. A journal has been patient itself before it says so.
const askAgain = "2"

// refuse writes a problem, as RFC 9457 has it. What broke is told to the log, and
// to nobody else.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	problem, ok := errors.AsType[*client.Problem](problemOf(err))
	if !ok {
		if r.Context().Err() != nil && errors.Is(err, context.Canceled) {
			panic(http.ErrAbortHandler) // who asked has gone
		}
		s.log.Error("request failed", "method", r.Method, "path", r.URL.Path, "error", err)
		told := refusal(http.StatusInternalServerError, "the server is at fault; its log says more")
		if outage.Is(err) {
			w.Header().Set("Retry-After", askAgain)
			told = refusal(http.StatusServiceUnavailable, "the server cannot reach its journal of runs for now; ask again in a few seconds")
		}
		problem, _ = errors.AsType[*client.Problem](told)
	}
	told := *problem
	told.Detail = redact.Text(told.Detail)
	s.write(w, told.Status, "application/problem+json", told)
}
