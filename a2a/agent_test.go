package a2a_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/a2a"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/journal/sqlite"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/pawltest"
	"github.com/pawl-run/pawl/tool"
)

// peer is a remote agent. A task works until it was looked at twice. The text of the message
// says how it ends; "ask" asks first. It does not recognise repeated messages.
type peer struct {
	*httptest.Server
	card func(*a2a.Card)

	mu    sync.Mutex
	tasks map[string]*a2a.Task
	looks map[string]int
	sent  map[string]int // how often each message was taken
	drop  int            // answers to messages that are lost
	down  bool
}

func newPeer(t *testing.T) *peer {
	t.Helper()
	p := &peer{tasks: map[string]*a2a.Task{}, looks: map[string]int{}, sent: map[string]int{}}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

func (p *peer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down {
		panic(http.ErrAbortHandler)
	}
	if r.URL.Path == a2a.CardPath {
		c := a2a.Card{Name: "peer", SupportedInterfaces: []a2a.Interface{{URL: p.URL + "/rpc", ProtocolBinding: a2a.JSONRPC, ProtocolVersion: "1.0", Tenant: "house"}}}
		if p.card != nil {
			p.card(&c)
		}
		_ = json.NewEncoder(w).Encode(c)
		return
	}
	var in a2a.Request
	var params struct {
		Tenant, ID string
		Message    a2a.Message
	}
	if r.Header.Get(a2a.VersionHeader) != "1.0" || json.NewDecoder(r.Body).Decode(&in) != nil || json.Unmarshal(in.Params, &params) != nil || params.Tenant != "house" {
		http.Error(w, "no request of this protocol", http.StatusBadRequest)
		return
	}
	out := a2a.Response{JSONRPC: "2.0", ID: in.ID}
	task := p.tasks[params.ID+params.Message.TaskID]
	switch in.Method {
	case a2a.MethodSend:
		p.sent[params.Message.MessageID]++
		out.Result = a2a.Update{Task: p.take(task, params.Message)}
		if p.drop > 0 {
			p.drop--
			panic(http.ErrAbortHandler)
		}
	case a2a.MethodGet:
		p.look(task)
		out.Result = task
	case a2a.MethodList:
		page := a2a.Page{}
		for _, t := range p.tasks {
			page.Tasks = append(page.Tasks, *t)
		}
		out.Result = page
	case a2a.MethodCancel:
		task.Status = a2a.Status{State: a2a.Canceled}
		out.Result = task
	}
	_ = json.NewEncoder(w).Encode(out)
}

func (p *peer) take(task *a2a.Task, m a2a.Message) *a2a.Task {
	if task == nil {
		id := fmt.Sprintf("t-%d", len(p.tasks)+1)
		task = &a2a.Task{ID: id, ContextID: "c-" + id}
		p.tasks[id] = task
	}
	task.History = append(task.History, m)
	task.Status, p.looks[task.ID] = a2a.Status{State: a2a.Working}, 0
	return task
}

func (p *peer) look(t *a2a.Task) {
	p.looks[t.ID]++
	said := *t.History[len(t.History)-1].Parts[0].Text
	if t.Status.State != a2a.Working || p.looks[t.ID] < 2 || strings.HasPrefix(said, "never") {
		return
	}
	switch {
	case strings.HasPrefix(said, "ask"):
		t.Status = a2a.Status{State: a2a.InputRequired, Message: &a2a.Message{Parts: []a2a.Part{a2a.Text("which one?")}}}
	case strings.HasPrefix(said, "fail"):
		t.Status = a2a.Status{State: a2a.Failed, Message: &a2a.Message{Parts: []a2a.Part{a2a.Text("out of paper")}}}
	default:
		t.Status = a2a.Status{State: a2a.Completed}
		t.Artifacts = []a2a.Artifact{{ArtifactID: "a", Parts: []a2a.Part{a2a.Text("did " + said)}}}
	}
}

// state is where a task stands, and made is how many there are.
func (p *peer) state(id string) a2a.State {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tasks[id].Status.State
}

func (p *peer) made() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.tasks)
}

// run runs the agent until it rests.
func (p *peer) run(t *testing.T, input string, o *a2a.Options) pawl.Result {
	t.Helper()
	result, err := engine.Run(t.Context(), a2a.Agent("peer", "A peer.", p.URL, o), input)
	must(t, err)
	if cost, known := result.CostUSD, result.Price != nil; cost != nil || known {
		t.Errorf("what the task costs is not known, but the run says %v", cost)
	}
	return result
}

func TestAgent(t *testing.T) {
	for input, want := range map[string]string{"print": "success did print", "fail": "failed ", "never": "failed "} {
		t.Run(input, func(t *testing.T) {
			p := newPeer(t)
			o := &a2a.Options{}
			if input == "never" {
				o.Timeout = 600 * time.Millisecond
			}
			r := p.run(t, input, o)
			if got := fmt.Sprint(r.Status, " ", r.Answer); got != want {
				t.Errorf("%q, want %q: %+v", got, want, r.Reason)
			}
			state := p.state("t-1")
			switch {
			case p.made() != 1:
				t.Errorf("%d tasks", p.made())
			case input == "fail" && r.Reason.Detail != "the remote task is failed: out of paper":
				t.Error(r.Reason.Detail)
			case input == "never" && (state != a2a.Canceled || !strings.Contains(r.Reason.Detail, "no result within")):
				t.Errorf("%s: %s", state, r.Reason.Detail)
			}
		})
	}
}

// A lost answer does not double the task, even if the remote agent does not know messages by
// their ids.
func TestLostAnswer(t *testing.T) {
	p := newPeer(t)
	p.drop = 2
	if r := p.run(t, "print", nil); r.Answer != "did print" || p.made() != 1 {
		t.Errorf("%d tasks: %+v", p.made(), r)
	}
}

// Files of the input, and of the conversation that a call carries, are sent as parts of the message
// if the card has their types. Else nothing is sent.
func TestFiles(t *testing.T) {
	pdf := []byte("%PDF-1.4\n")
	o := &engine.StartOptions{Files: []pawl.File{{Name: "a.pdf", Data: pdf}, {Name: "a.txt", Data: []byte("Pay soon.")}}}
	for _, c := range []struct {
		carry string
		modes []string
		want  string
		parts string
	}{
		{"", []string{"text/plain", "application/*"}, "did print", "[ a.pdf application/pdf %PDF-1.4\n a.txt text/plain Pay soon.]"},
		{"", []string{"text/plain"}, "the agent at 127.0.0.1:PORT does not take application/pdf; its card has text/plain", ""},
		{"last", []string{"*/*"}, "did print", "[ a.pdf application/pdf %PDF-1.4\n a.txt text/plain Pay soon.]"},
		{"none", []string{"*/*"}, "did print", "[]"},
	} {
		p := newPeer(t)
		p.card = func(card *a2a.Card) { card.Skills = []a2a.Skill{{InputModes: c.modes}} }
		agent := a2a.Agent("peer", "A peer.", p.URL, nil)
		if c.carry != "" {
			peer := tool.Agent(agent, &tool.AgentOptions{Carry: strings.TrimPrefix(c.carry, "none")})
			agent = pawl.Agent{Name: "lead", Tools: []pawl.Tool{peer}, Model: script.Replies(pawl.Do(pawl.Call{Tool: "peer", Args: []byte(`{"input":"print"}`)}), pawl.Say("did print"))}
		}
		h, err := engine.New(memory.New(), nil).Start(t.Context(), agent, "print", o)
		must(t, err)
		r, err := h.Wait(t.Context())
		want := strings.ReplaceAll(c.want, "127.0.0.1:PORT", strings.TrimPrefix(p.URL, "http://"))
		if said := r.Answer + r.Reason.Detail; err != nil || !strings.Contains(said, want) {
			t.Errorf("%q: %v, %q, want %q", c.carry, err, said, want)
		}
		if c.parts == "" {
			if n := p.made(); n > 0 {
				t.Errorf("%d messages were sent", n)
			}
			continue
		}
		got := []string{}
		for _, part := range p.tasks["t-1"].History[0].Parts[1:] {
			got = append(got, "", part.Filename, part.MediaType, string(part.Raw))
		}
		if text := strings.ReplaceAll(fmt.Sprint(got), "  ", " "); text != c.parts {
			t.Errorf("%q: the parts are %q, want %q", c.carry, text, c.parts)
		}
	}
}

// What a remote agent does wrong is an error that says so.
func TestBadPeers(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*a2a.Card){
		"has no interface for": func(c *a2a.Card) { c.SupportedInterfaces = nil },
		"GRPC 1.0":             func(c *a2a.Card) { c.SupportedInterfaces[0].ProtocolBinding = "GRPC" },
		"JSONRPC 0.3":          func(c *a2a.Card) { c.SupportedInterfaces[0].ProtocolVersion = "0.3" },
		"another server":       func(c *a2a.Card) { c.SupportedInterfaces[0].URL = "https://elsewhere.example/rpc" },
		"the answer is 400":    func(c *a2a.Card) { c.SupportedInterfaces[0].Tenant = "garden" },
		"does not follow the protocol": func(c *a2a.Card) {
			c.SupportedInterfaces[0].URL = strings.TrimSuffix(c.SupportedInterfaces[0].URL, "/rpc") + a2a.CardPath
		},
	} {
		p := newPeer(t)
		p.card = change
		if r := p.run(t, "print", nil); r.Status != pawl.StatusFailed || !strings.Contains(r.Reason.Detail, want) {
			t.Errorf("want %q: %+v", want, r.Reason)
		}
	}
	p := newPeer(t)
	p.Close()
	if r := p.run(t, "print", nil); r.Status != pawl.StatusFailed || !strings.Contains(r.Reason.Detail, "not run") {
		t.Errorf("nobody listens: %+v", r.Reason)
	}
	for _, at := range []string{"", "ftp://x", "http://agents.example.org", "https://me:secret@agents.example.org"} {
		if _, err := engine.Run(t.Context(), a2a.Agent("peer", "A peer.", at, nil), "x"); err == nil || !strings.Contains(err.Error(), "URL of a remote agent") {
			t.Errorf("%s: %v", at, err)
		}
	}
}

// The questions of a task are asked of a person, and its id outlives the process.
func TestQuestion(t *testing.T) {
	p := newPeer(t)
	j, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "runs.db"), nil)
	must(t, err)
	defer j.Close()
	agent := pawl.Agent{Name: "boss", Model: script.Replies(pawl.Do(pawl.Call{Tool: "peer", Args: json.RawMessage(`{"input":"ask"}`)}), pawl.Say("all done")),
		Tools: []pawl.Tool{tool.Agent(a2a.Agent("peer", "A peer.", p.URL, nil), nil)}}
	h, err := engine.New(j, nil).Start(t.Context(), agent, "go", nil)
	must(t, err)
	r, err := h.Wait(t.Context())
	if err != nil || r.Status != pawl.StatusWaitingInput || !strings.Contains(r.Pending[0].Reason, "which one?") {
		t.Fatal(r.Status, r.Pending, err)
	}
	e := engine.New(j, nil) // another process
	must(t, e.Answer(t.Context(), r.Pending[0].Run, r.Pending[0].Call, "me", "the left one"))
	if h, err = e.Resume(t.Context(), agent, r.Run, nil); err != nil {
		t.Fatal(err)
	}
	if r, err = h.Wait(t.Context()); err != nil || r.Answer != "all done" || len(p.tasks) != 1 || *p.tasks["t-1"].History[1].Parts[0].Text != "the left one" {
		t.Errorf("%+v %v %d tasks", r, err, len(p.tasks))
	}
	s, err := engine.Load(t.Context(), j, r.Run)
	if c, _ := s.Call("c_1"); err != nil || string(c.Result) != `"did the left one"` || !s.Tainted() {
		t.Errorf("%s, tainted %t: %v", c.Result, s.Tainted(), err)
	}
}

// A cancelled run cancels its task; a suspended one does not.
func TestCancel(t *testing.T) {
	for _, cancel := range []bool{true, false} {
		p := newPeer(t)
		e := engine.New(memory.New(), nil)
		ctx, suspend := context.WithCancel(t.Context())
		h, err := e.Start(ctx, a2a.Agent("peer", "A peer.", p.URL, nil), "never", nil)
		must(t, err)
		for entry, err := range h.Entries(t.Context()) {
			must(t, err)
			if began, ok := entry.Event.(pawl.ToolStarted); ok && began.Tool == "wait_for_task" {
				break
			}
		}
		if cancel {
			err = e.Cancel(t.Context(), h.ID(), "me", "no need")
		} else {
			suspend()
		}
		must(t, err)
		_, err = h.Wait(t.Context())
		suspend()
		if state := p.state("t-1"); err != nil || (state == a2a.Canceled) != cancel {
			t.Errorf("cancelled %t: the task is %s: %v", cancel, state, err)
		}
	}
}

// Wherever the process dies, there is one task, although the remote agent does not know messages
// by their ids. So it is for an agent by itself and for one that is a tool.
func TestKills(t *testing.T) {
	t.Parallel()
	for name, build := range map[string]func(pawl.Agent) pawl.Agent{
		"itself": func(remote pawl.Agent) pawl.Agent { return remote },
		"tool": func(remote pawl.Agent) pawl.Agent {
			return pawl.Agent{Name: "boss", Tools: []pawl.Tool{tool.Agent(remote, nil)},
				Model: script.Replies(pawl.Do(pawl.Call{Tool: "peer", Args: json.RawMessage(`{"input":"print"}`)}), pawl.Say("all done"))}
		},
	} {
		t.Run(name, func(t *testing.T) {
			var peers []*peer
			log := pawltest.KillEverywhere(t, func() pawl.Agent {
				peers = append(peers, newPeer(t))
				return build(a2a.Agent("peer", "A peer.", peers[len(peers)-1].URL, nil))
			}, "print", nil)
			if len(log) < 8 || len(peers) < 2*(len(log)-1) {
				t.Errorf("the log has %d entries, and there were %d runs", len(log), len(peers))
			}
			for i, p := range peers {
				p.mu.Lock()
				if len(p.tasks) != 1 || len(p.sent) != 1 {
					t.Errorf("run %d made %d tasks of %v", i, len(p.tasks), p.sent)
				}
				p.mu.Unlock()
			}
		})
	}
}

var must = check.Must
