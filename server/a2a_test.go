package server_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pawl-run/pawl/a2a"
	"github.com/pawl-run/pawl/internal/testkit/a2atest"
	"github.com/pawl-run/pawl/server"
)

// requirements are the MUST requirements of the Agent2Agent protocol for a server of JSON-RPC,
// by the ids of its conformance kit, with the section of the specification. docs/a2a.md lists
// those that do not apply.
var requirements = []struct {
	id, section string
	test        func(*a2aWorld)
}{
	{"CARD-DISC-001", "8.1", cardIsThere},
	{"CARD-PROTO-001 CARD-PROTO-002 BIND-FIELD-001", "8.3", cardNamesInterfaces},
	{"CARD-STRUCT-001 DM-SERIAL-004", "4.4.1", cardIsComplete},
	{"CARD-EXT-001", "3.1.11", extendedNeedsToken},
	{"CARD-CACHE-001 CARD-CACHE-002 CARD-CACHE-003", "8.6.1", cardIsCached},
	{"AUTH-SERVER-002 AUTH-SCOPE-001 BIND-EQUIV-004", "7.4", everyRequestNeedsToken},
	{"AUTH-SCOPE-002 AUTH-SCOPE-003 CORE-LIST-001", "13.1", tenantsAreApart},
	{"AUTH-INTASK-001 AUTH-INTASK-002 AUTH-INTASK-003 AUTH-INTASK-004 AUTH-INTASK-006", "7.6.1", approvalIsAuthorization},
	{"AUTH-INTASK-005", "7.6.1", streamOutlastsApproval},
	{"JSONRPC-FMT-002 JSONRPC-SVC-002", "9.1", mediaTypes},
	{"JSONRPC-ERR-001 JSONRPC-ERR-002 JSONRPC-ERR-003 JSONRPC-SSE-002 BIND-EQUIV-003", "5.4", errorsHaveTheirForm},
	{"JSONRPC-FMT-001 JSONRPC-SVC-001", "9.1", rpcIsStrict},
	{"JSONRPC-SSE-001 CORE-STREAM-001 CORE-STREAM-003 STREAM-ORDER-001", "3.1.2", streamsFromTaskToEnd},
	{"CORE-SEND-001 CORE-EXECUTION-MODE-001 CORE-MULTI-001a", "3.1.1", sendWaits},
	{"CORE-EXECUTION-MODE-002 CORE-GET-001", "3.2.2", sendReturnsAtOnce},
	{"CORE-SEND-002", "3.1.1", terminalTakesNoMessage},
	{"CORE-SEND-003", "3.1.1", foreignMediaIsRefused},
	{"CORE-ERR-001 CORE-ERR-002", "3.3.2", inputIsValidated},
	{"CORE-GET-002 CORE-CANCEL-003 CORE-MULTI-004 STREAM-SUB-004", "3.4.2", unknownTasks},
	{"CORE-LIST-002 CORE-LIST-003 CORE-LIST-004 CORE-LIST-005", "3.1.4", listPages},
	{"CORE-CANCEL-001 CORE-CANCEL-002", "3.1.5", cancelEnds},
	{"CORE-CAP-001", "3.3.4", pushIsNotSupported},
	{"CORE-MULTI-003", "3.4.2", idsAreUnique},
	{"CORE-MULTI-005 CORE-MULTI-006", "3.4.3", contextIsTheTasks},
	{"CORE-HIST-002 CORE-HIST-001", "3.2.4", historyIsBounded},
	{"DM-TASK-001 DM-TASK-002 DM-MSG-001 DM-MSG-002 DM-PART-001 DM-ART-001 DM-STATUS-001 DM-SERIAL-001 DM-SERIAL-002 DM-SERIAL-003 BIND-EQUIV-001 BIND-EQUIV-002", "4.1", taskHasItsForm},
	{"DM-SERIAL-005", "5.7", unknownFieldsAreIgnored},
	{"STREAM-SUB-001 STREAM-SUB-002 STREAM-ORDER-002 STREAM-ORDER-003 STREAM-ORDER-004", "3.5.2", subscribersHearTheSame},
	{"STREAM-SUB-003", "3.1.6", terminalIsNotSubscribed},
	{"VER-SERVER-001 VER-SERVER-002 VER-SERVER-003 VER-CLIENT-002", "3.6.2", versions},
}

// TestA2A holds the server to the protocol.
func TestA2A(t *testing.T) { // Promises: N13.
	for _, r := range requirements {
		name, _, _ := strings.Cut(r.id, " ")
		t.Run(r.section+" "+name, func(t *testing.T) { r.test(newA2AWorld(t, nil)) })
	}
}

// a2aWorld is a world that speaks the protocol.
type a2aWorld struct{ *world }

func newA2AWorld(t *testing.T, change func(*server.Options)) *a2aWorld {
	t.Helper()
	o := &server.Options{LinkKey: []byte("a key of links"), A2A: "scenarios"}
	if change != nil {
		change(o)
	}
	w := &a2aWorld{serve(t, o)}
	w.mu.Lock()
	w.agents["scenarios"] = a2atest.Agent() // programs that are started later ask for it
	w.mu.Unlock()
	return w
}

// refused is an error.
type refused struct {
	status  int // of HTTP
	code    int
	message string
	reason  string
	details []map[string]any
}

// request is the HTTP request of a call.
func (w *a2aWorld) request(token, method string, params map[string]any) request {
	w.t.Helper()
	r := request{token: token, method: "POST", path: "/a2a", header: version1()}
	raw, err := json.Marshal(params)
	must(w.t, err)
	r.body = fmt.Sprintf(`{"jsonrpc":"2.0","id":"r-1","method":%q,"params":%s}`, method, raw)
	return r
}

// call makes a call and returns its result, or how it was refused.
func (w *a2aWorld) call(token, method string, params map[string]any) (json.RawMessage, *refused) {
	w.t.Helper()
	res, data := w.send(w.request(token, method, params))
	return w.outcome(res, data)
}

func (w *a2aWorld) outcome(res answer, data []byte) (json.RawMessage, *refused) {
	w.t.Helper()
	type failure struct {
		Code    int
		Message string
		Data    []map[string]any
	}
	var out struct {
		JSONRPC string
		ID      any
		Result  json.RawMessage
		Error   *failure
	}
	if err := json.Unmarshal(data, &out); err != nil && res.StatusCode != http.StatusOK {
		w.t.Fatalf("%d: %s: %v", res.StatusCode, data, err)
	}
	if out.JSONRPC != "2.0" {
		w.t.Errorf("jsonrpc is %q in %s", out.JSONRPC, data)
	}
	if out.Error == nil {
		return out.Result, nil
	}
	r := &refused{status: res.StatusCode, code: out.Error.Code, message: out.Error.Message, details: out.Error.Data}
	for _, d := range r.details {
		if d["@type"] == "type.googleapis.com/google.rpc.ErrorInfo" && d["domain"] == "a2a-protocol.org" {
			r.reason = fmt.Sprint(d["reason"])
		}
	}
	return nil, r
}

// gets is call for a result of a type.
func gets[T any](w *a2aWorld, token, method string, params map[string]any) (v T) {
	w.t.Helper()
	raw, no := w.call(token, method, params)
	if no != nil {
		w.t.Fatalf("%s: %+v", method, no)
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		w.t.Fatalf("%s: %s: %v", method, raw, err)
	}
	return v
}

// wants is call for what is refused with a kind of error.
func (w *a2aWorld) wants(kind a2a.Kind, token, method string, params map[string]any) {
	w.t.Helper()
	_, no := w.call(token, method, params)
	switch {
	case no == nil:
		w.t.Errorf("%s %v: it is not refused", method, params)
	case no.code != kind.Code, no.reason != kind.Reason, no.message == "":
		w.t.Errorf("%s %v: %+v, want %+v", method, params, no, kind)
	}
}

var messages int

// message is a message with an id that begins so.
func message(prefix string, more ...any) map[string]any {
	messages++
	m := map[string]any{"messageId": fmt.Sprintf("%s-%d", prefix, messages), "role": "ROLE_USER", "parts": []any{map[string]any{"text": "go"}}}
	for i := 0; i < len(more); i += 2 {
		m[more[i].(string)] = more[i+1]
	}
	return map[string]any{"message": m}
}

// start sends a message and returns the task.
func (w *a2aWorld) start(prefix string, more ...any) a2a.Task {
	w.t.Helper()
	u := gets[a2a.Update](w, admin, a2a.MethodSend, message(prefix, more...))
	if u.Task == nil {
		w.t.Fatalf("the answer is no task: %+v", u)
	}
	return *u.Task
}

// stream makes a call whose answer is a stream, and yields its updates.
func (w *a2aWorld) stream(token, method string, params map[string]any) *updates {
	w.t.Helper()
	r := w.request(token, method, params)
	req, err := http.NewRequestWithContext(w.t.Context(), r.method, w.web.URL+r.path, strings.NewReader(r.body))
	must(w.t, err)
	req.Header = r.header.Clone()
	req.Header.Set("Authorization", "Bearer "+token)
	if r.body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	must(w.t, err)
	w.t.Cleanup(func() { _ = res.Body.Close() })
	if kind := res.Header.Get("Content-Type"); kind != "text/event-stream" {
		w.t.Fatalf("%s: the answer is %d %s", method, res.StatusCode, kind)
	}
	return &updates{w, bufio.NewReader(res.Body), res.Body.Close}
}

// updates are those of a stream.
type updates struct {
	w     *a2aWorld
	from  *bufio.Reader
	close func() error
}

// next is the next update; false: the stream has ended.
func (u *updates) next() (update a2a.Update, ok bool) {
	u.w.t.Helper()
	for {
		line, err := u.from.ReadBytes('\n')
		if err != nil {
			return update, false
		}
		data, ok := bytes.CutPrefix(line, []byte("data: "))
		if !ok {
			continue
		}
		var r struct {
			JSONRPC, ID string
			Result      json.RawMessage
		}
		if err := json.Unmarshal(data, &r); err != nil || r.JSONRPC != "2.0" || r.ID != "r-1" {
			u.w.t.Fatalf("%s: %v", data, err)
		}
		if err := json.Unmarshal(r.Result, &update); err != nil {
			u.w.t.Fatalf("%s: %v", data, err)
		}
		return update, true
	}
}

// rest are the states of all updates until the end, with the names of artifacts.
func (u *updates) rest() (all []string) {
	u.w.t.Helper()
	for {
		update, ok := u.next()
		switch {
		case !ok:
			return all
		case update.Task != nil:
			all = append(all, "task "+string(update.Task.Status.State))
		case update.StatusUpdate != nil:
			all = append(all, "status "+string(update.StatusUpdate.Status.State))
		case update.ArtifactUpdate != nil:
			all = append(all, "artifact "+*update.ArtifactUpdate.Artifact.Parts[0].Text)
		}
	}
}

// lasting gets a task until it is in a state.
func (w *a2aWorld) lasting(agent, id string, want a2a.State) a2a.Task {
	w.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		task := gets[a2a.Task](w, admin, a2a.MethodGet, map[string]any{"tenant": agent, "id": id})
		if task.Status.State == want || time.Now().After(end) {
			if task.Status.State != want {
				w.t.Fatalf("task %s is %s, want %s", id, task.Status.State, want)
			}
			return task
		}
	}
}

// to is a message for an agent.
func to(agent, prefix string, more ...any) map[string]any {
	params := message(prefix, more...)
	params["tenant"] = agent
	return params
}

// atOnce has the answer to a message sent at once.
func atOnce(params map[string]any) map[string]any {
	params["configuration"] = map[string]any{"returnImmediately": true}
	return params
}

// version1 is the header of version 1.0.
func version1() http.Header {
	h := http.Header{}
	h.Set(a2a.VersionHeader, "1.0")
	return h
}

var kitMessage = regexp.MustCompile(`"messageId"\s*:\s*"([^"]*)"`)

// TestA2AKit serves the scenarios of the protocol's conformance kit at the address in A2A_KIT,
// until it is killed, so that the kit can be pointed at it. The kit sends no token, and the same
// message again and again where it wants another task; here each is another message.
func TestA2AKit(t *testing.T) {
	at := os.Getenv("A2A_KIT")
	if at == "" {
		t.Skip("A2A_KIT names no address")
	}
	w := newA2AWorld(t, func(o *server.Options) { o.Hosts = []string{at} })
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", at)
	must(t, err)
	var sent atomic.Int64
	t.Fatal(http.Serve(l, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "" {
			r.Header.Set("Authorization", "Bearer "+admin)
		}
		if body, err := io.ReadAll(r.Body); err == nil && len(body) > 0 {
			body = kitMessage.ReplaceAll(body, fmt.Appendf(nil, `"messageId": "${1}-%d"`, sent.Add(1)))
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		}
		w.server.ServeHTTP(rw, r)
	})))
}
