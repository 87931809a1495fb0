package cli_test

import (
	"encoding/json"
	"errors"
	"flag"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/explain"
	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/journal/sqlite"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/runs"
	"github.com/pawl-run/pawl/spec"
)

// A standing is a status that runs of an agent come to, and what each command that
// is advised there exits with; one that is not listed exits with 0.
type standing struct {
	status pawl.Status
	agent  string // its spec, without the name and the model
	says   string // its model
	do     func(b *bench)
	codes  map[string]int
	once   bool // only for a run from a spec
}

const (
	gated   = "tools: [{name: pay, description: Pay., command: [echo, paid], approval: required}]\n"
	pays    = "replies: [{calls: [{tool: pay}]}, {text: done}]\nrepeat: last\n"
	looking = "tools: [{name: look, description: Look., command: [echo, seen], effect: read}]\n"
	oneLook = "replies: [{calls: [{tool: look}]}, {text: done}]\nrepeat: last\n"
)

var standings = map[string]standing{
	"success":            {status: pawl.StatusSuccess, says: "replies: [{text: done}]\nrepeat: last\n"},
	"exhausted by limit": {status: pawl.StatusExhausted, agent: looking + "limits: {iterations: 1}\n", says: oneLook},
	"exhausted by stop":  {status: pawl.StatusExhausted, agent: looking + "stop: tool_calls >= 1\n", says: oneLook},
	"no progress": {status: pawl.StatusNoProgress, agent: looking + "no_progress: {window: 2}\n",
		says: "replies: [{calls: [{tool: look}]}, {calls: [{tool: look}]}, {calls: [{tool: look}]}, {text: done}]\nrepeat: last\n"},
	"waiting for an approval": {status: pawl.StatusWaitingApproval, agent: gated, says: pays},
	"waiting for two": {status: pawl.StatusWaitingApproval, agent: gated, says: "replies: [{calls: [{tool: pay}, {tool: pay}]}, {text: done}]\n",
		codes: map[string]int{"approve": 5, "deny": 5}},
	"waiting for input": {status: pawl.StatusWaitingInput, agent: "tools: [{builtin: [ask_human]}]\n",
		says: "replies: [{calls: [{tool: ask_human, args: {question: which?}}]}, {expect: 'yes', text: done}]\n"},
	"waiting for the client": {status: pawl.StatusWaitingClientTool, agent: "tools: [{name: pick, description: Pick., client: true}]\n",
		says: "replies: [{calls: [{tool: pick}]}, {expect: b7, text: done}]\n"},
	"waiting in doubt": {status: pawl.StatusWaitingDoubt, agent: "tools: [{name: pay, description: Pay., command: [echo, paid]}]\n", says: pays,
		do: func(b *bench) { b.cut("tool.started"); b.must(5, "resume", b.root) }},
	"expired": {status: pawl.StatusExpired, agent: gated + "approvals: {ttl: 100ms}\n", says: pays,
		do: func(b *bench) { time.Sleep(200 * time.Millisecond) }, codes: map[string]int{"resume": 5}},
	"denied": {status: pawl.StatusDenied, agent: gated + "approvals: {on_deny: stop}\n", says: pays,
		do: func(b *bench) { b.deny() }},
	"plan_failed": {status: pawl.StatusPlanFailed, agent: looking,
		says: "replies: [" + strings.Repeat("{calls: [{tool: nosuch}]}, ", 6) + "{text: done}]\nrepeat: last\n"},
	"failed":            {status: pawl.StatusFailed, says: "replies: [{attempts: [{error: {class: invalid, message: no}}, {text: done}]}]\n"},
	"failed by its key": {status: pawl.StatusFailed, says: "replies: [{attempts: [{error: {class: auth, message: no}}, {text: done}]}]\n"},
	"refused": {status: pawl.StatusFailed, says: "replies: [{stop: refusal, text: no}]\nrepeat: last\n",
		codes: map[string]int{"fork": 1, "resume": 1}}, // it is refused again
	"cancelled": {status: pawl.StatusCancelled, says: "replies: [{attempts: [{error: {class: rate_limit, message: later, retry_after: 1h}}, {text: done}]}]\n",
		do: func(b *bench) { b.must(0, "cancel", b.root) }},
	"paused": {status: pawl.StatusPaused, says: "replies: [{attempts: [{error: {class: rate_limit, message: later, retry_after: 1h}}, {text: done}]}]\n"},
	"answered": {status: pawl.StatusWaitingInput, agent: "tools: [{builtin: [ask_human]}]\n", once: true,
		says: "replies: [{calls: [{tool: ask_human, args: {question: which?}}]}, {expect: 'yes', text: done}]\n",
		do:   func(b *bench) { b.must(0, "answer", b.run, "yes", "--no-continue") }},
	"exhausted by budget": {status: pawl.StatusExhausted, says: oneLook, agent: looking + "budgets: [{per: total, tokens: 40}]\n", once: true,
		codes: map[string]int{"resume": 3}}, // the budget is as it was
	"failed by luck":   {status: pawl.StatusFailed, says: fails("unknown", 4), once: true},
	"failed by credit": {status: pawl.StatusFailed, says: fails("quota", 1), once: true},
	"failed by length": {status: pawl.StatusFailed, says: fails("too_long", 1), once: true},
	"failed by stop": {status: pawl.StatusFailed, agent: looking + "stop: failed(tool_calls >= 1)\n", says: oneLook, once: true,
		codes: map[string]int{"fork": 1}}, // whose condition holds again
	"failed by a call": {status: pawl.StatusFailed, once: true, codes: map[string]int{"resume": 1, "run": 1}, says: "replies: [{text: done}]\n",
		agent: "loop: workflow\ntools: [{name: look, description: Look., command: ['false'], effect: read}]\nsteps: [{id: a, tool: look}]\n"},
	"interrupted": {status: pawl.StatusInterrupted, says: "replies: [{text: done}]\n", do: func(b *bench) { b.cut("model.called") }},
}

// TestAdviceWorks runs every command that is advised to somebody, wherever a run
// stands and however it began: from a spec, at a server, or by a run that called it.
// A command that is advised exits as one that did what it says, and has an effect.
func TestAdviceWorks(t *testing.T) { // Promises: T5.
	t.Parallel()
	t.Cleanup(func() { adviceIsTried(t) })
	for _, origin := range []string{"spec", "server", "child"} {
		if testing.Short() && origin != "server" {
			continue // one command after another
		}
		for _, name := range slices.Sorted(maps.Keys(standings)) {
			st := standings[name]
			switch {
			case st.once && origin != "spec":
				continue
			case origin == "server" && st.status == pawl.StatusInterrupted: // which a server takes up
				continue
			case origin == "child" && st.status == pawl.StatusCancelled: // a child that waits ends with its caller
				continue
			}
			t.Run(origin+"/"+name, func(t *testing.T) {
				t.Parallel()
				(&bench{T: t, origin: origin, standing: st}).walk()
			})
		}
	}
}

// adviceIsTried checks that each row of advice was done by TestAdviceWorks, or is done elsewhere.
func adviceIsTried(t *testing.T) {
	if t.Failed() || testing.Short() || flag.Lookup("test.run").Value.String() != "^TestAdviceWorks$" && flag.Lookup("test.run").Value.String() != "" {
		return // not all ran
	}
	rows, err := os.ReadFile("../../../explain/testdata/advice.txt")
	must(t, err)
	for row := range strings.Lines(string(rows)) {
		parts := strings.Split(strings.TrimSpace(row), "|")
		why, _, _ := strings.Cut(parts[3], "{")
		if !slices.ContainsFunc(tried, func(n explain.Action) bool {
			return strings.Fields(n.Command)[1] == strings.Fields(parts[2])[1] && strings.HasPrefix(n.Why.String(), why)
		}) && adviceElsewhere[parts[0]+": "+parts[1]] == "" {
			t.Errorf("no test does what is advised: %s", row)
		}
	}
}

// tried is the advice that was done. adviceElsewhere names the tests that do or see the advice about other runs.
var (
	tried           []explain.Action
	trying          sync.Mutex
	adviceElsewhere = map[string]string{
		"running: ": "TestAdviceWorksWhileItRuns", "queued: ": "worker.txtar", "paused: ": "explain.TestGolden/paused", "any: a child": "agent.txtar",
		"exhausted: a policy": "policy.txtar", "exhausted: a budget": "exhausted.txtar", "exhausted: a period": "exhausted.txtar",
		"exhausted: a budget of its policy": "exhausted.txtar", "no_progress: a model": "fix_advice.txtar", "any: a child's end": "advice.txtar",
		"failed: a decision": "doubt.txtar", "failed: evidence": "explain.TestGolden/judged", "failed: code": "explain.TestGolden/failed-panic",
		"failed: agreement": "explain.TestAdvice", "any: secrets": "explain.TestImported", "any: its end": "explain.TestImported",
		"any: its thread": "thread.txtar", "any: the conversation": "server.TestLegs",
	}
)

// fails is a model whose first call fails with an error of a class so many times.
func fails(class string, times int) string {
	return "replies: [{attempts: [" + strings.Repeat("{error: {class: "+class+", message: no}}, ", times) + "{text: done}]}]\nrepeat: last\n"
}

// A bench has one run, and tries on copies of its database what is advised about it.
type bench struct {
	*testing.T
	standing

	origin    string
	home      string // has the specs
	dir       string // has the database
	root, run string // the run, and the one that it is a child of
	url       string // of the server
	halt      func()
	said      string // by the command that began it
}

func (b *bench) walk() {
	b.home = b.TempDir()
	b.dir = b.home
	files := map[string]string{
		"x.yaml":           "name: x\nmodel: script:x.script.yaml\n" + b.agent,
		"x.script.yaml":    b.says,
		"ok.script.yaml":   "replies: [{text: done}]\nrepeat: last\n",
		"boss.yaml":        "name: boss\nmodel: script:boss.script.yaml\ntools: [{agent: ./x.yaml, description: Do it.}]\n",
		"boss.script.yaml": "replies: [{calls: [{tool: x, args: {input: go}}]}, {text: done}]\nrepeat: last\n",
	}
	for name, text := range files {
		must(b, os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o600))
	}
	b.begin()
	if b.do != nil {
		b.do(b)
	}
	if b.atServer() {
		b.serve()
	}
	report := b.report(b.run)
	if b.status == pawl.StatusExpired && !b.atServer() {
		if code, _, stderr := b.pawl("approve", b.run); code != 2 || !strings.Contains(stderr, "asks again: "+report.Action) {
			b.Errorf("an approval that is late does not say how to go on: exit %d: %s", code, stderr)
		}
	}
	if report.Status != b.status {
		b.Fatalf("the run is %v, not %v: %s\n%s", report.Status, b.status, report.Reason.Detail, b.said)
	}
	if len(report.Next) == 0 {
		b.Fatal("nothing is advised")
	}
	var said []string
	for _, line := range regexp.MustCompile(`(?m)^next: (.*) # `).FindAllStringSubmatch(b.said, -1) {
		said = append(said, b.nowhere(line[1]))
	}
	for _, command := range said {
		if b.do == nil && b.origin != "child" && !slices.ContainsFunc(report.Next, func(n explain.Action) bool { return b.nowhere(n.Command) == command }) {
			b.Errorf("%q is advised at the end of the run, and not by explain", command)
		}
	}
	if b.status != pawl.StatusSuccess && report.Action != report.Next[0].Command {
		b.Errorf("%q is recommended, and %q advised first", report.Action, report.Next[0].Command)
	}
	if r := b.shown(b.run); r.Action != report.Action {
		b.Errorf("show recommends %q, explain %q", r.Action, report.Action)
	}
	if b.halt != nil {
		b.halt()
	}
	for _, next := range report.Next {
		b.try(next)
	}
}

// try does what is advised, on a copy of the database.
func (b *bench) try(next explain.Action) {
	b.Helper()
	dir, was := b.dir, b.url
	b.dir = b.TempDir()
	defer func() { b.dir, b.url = dir, was }()
	must(b, os.CopyFS(b.dir, os.DirFS(dir)))
	if b.atServer() {
		b.serve()
		defer b.halt()
	}
	before := b.report(b.run)
	seqs := b.lengths()
	argv := b.argv(strings.ReplaceAll(next.Command, was, b.url))
	verb := argv[0]
	code, stdout, stderr := b.pawl(argv...)
	trying.Lock()
	tried = append(tried, next)
	trying.Unlock()
	want := b.codes[verb]
	if verb == "approve" && slices.Contains(argv, "--all") {
		want = 0
	}
	letter := slices.Contains([]string{"approve", "deny", "answer", "submit", "settle"}, verb)
	if code != want {
		b.Errorf("%s: exit %d, want %d\n%s%s", next.Command, code, want, stdout, stderr)
		return
	}
	after := b.lengths()
	switch {
	case letter, verb == "resume":
		if after[b.run] <= seqs[b.run] {
			b.Errorf("%s: the run has not gone on\n%s%s", next.Command, stdout, stderr)
		}
	case verb == "fork", verb == "run":
		if len(after) != len(seqs)+1 {
			b.Errorf("%s: there are %d runs, and were %d", next.Command, len(after), len(seqs))
		}
	case verb == "explain":
		if !strings.HasPrefix(stdout, "# Run ") {
			b.Errorf("%s: %s", next.Command, stdout)
		}
	default:
		b.Errorf("%s: nobody knows what %s is to do about a run that is %v", next.Command, verb, before.Status)
	}
}

// nowhere is a command without the address of the server, which moves.
func (b *bench) nowhere(command string) string {
	return regexp.MustCompile(` --server \S+`).ReplaceAllString(command, "")
}

// begin has the run come to where it rests first.
func (b *bench) begin() {
	b.Helper()
	switch b.origin {
	case "spec":
		_, _, b.said = b.pawl("run", b.file("x.yaml"), "go")
	case "child":
		_, _, b.said = b.pawl("run", b.file("boss.yaml"), "go")
	case "server":
		b.serve()
		_, _, b.said = b.pawl("run", "x", "go", "--server", b.url)
		b.halt()
	}
	for h := range b.heads() {
		if b.run = h.Run; !runs.IsChild(h) {
			b.root = h.Run
		}
	}
	for h := range b.heads() {
		if runs.IsChild(h) {
			b.run = h.Run
		}
	}
	if b.origin != "child" {
		b.run = b.root
	}
	if b.run == "" {
		b.Fatalf("no run has begun: %s", b.said)
	}
}

// deny refuses the call that waits, and has the run take that in.
func (b *bench) deny() {
	b.Helper()
	if b.pawl("deny", b.run, "--no-continue"); b.origin == "child" {
		b.must(0, "resume", b.root)
		return
	}
	b.must(6, "resume", b.run)
}

// cut has the process die that drives the run, right after its first entry of a type.
func (b *bench) cut(typ string) {
	b.Helper()
	old := b.journal()
	home := b.dir
	b.dir = b.TempDir()
	fresh := b.journal()
	for h := range b.headsOf(old) {
		at := typ
		if h.Run != b.run {
			at = "child.started"
		}
		lease, err := fresh.Claim(b.Context(), pawl.Claim{Run: h.Run, Owner: "gone", TTL: time.Minute, New: true})
		must(b, err)
		batch := pawl.Batch{Run: h.Run, Epoch: lease.Epoch}
		s := new(pawl.State)
		for e, err := range engine.Entries(b.Context(), old, h.Run, 1) {
			must(b, err)
			line, err := e.AppendJSON(nil)
			must(b, err)
			s.Fold(e)
			if batch.Records = append(batch.Records, line); e.Type() == at {
				break
			}
		}
		batch.Head = s.Head()
		must(b, fresh.Append(b.Context(), batch))
		if _, err := fresh.Claim(b.Context(), pawl.Claim{Run: h.Run, Owner: "gone", Epoch: lease.Epoch}); err != nil {
			b.Fatal(err)
		}
	}
	cut := b.dir
	b.dir = home
	err := errors.Join(old.Close(), fresh.Close())
	for _, name := range []string{"runs.db", "runs.db-wal", "runs.db-shm"} {
		err = errors.Join(err, os.RemoveAll(filepath.Join(home, name)))
	}
	if err = errors.Join(err, os.CopyFS(home, os.DirFS(cut))); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) journal() *sqlite.Journal {
	b.Helper()
	j, err := sqlite.Open(b.Context(), filepath.Join(b.dir, "runs.db"), nil)
	must(b, err)
	return j
}

func (b *bench) heads() func(func(pawl.Head) bool) {
	return func(yield func(pawl.Head) bool) {
		j := b.journal()
		defer j.Close()
		b.headsOf(j)(yield)
	}
}

func (b *bench) headsOf(j *sqlite.Journal) func(func(pawl.Head) bool) {
	return func(yield func(pawl.Head) bool) {
		for h, err := range j.List(b.Context(), pawl.Query{}) {
			must(b, err)
			if !yield(h) {
				return
			}
		}
	}
}

// lengths are how many entries the runs have; a claim without any is no run.
func (b *bench) lengths() map[string]uint64 {
	n := map[string]uint64{}
	for h := range b.heads() {
		if h.Seq > 0 {
			n[h.Run] = h.Seq
		}
	}
	return n
}

// pawl runs a command on the database, or at the server that it names.
func (b *bench) pawl(args ...string) (code int, stdout, stderr string) {
	b.Helper()
	return typing(b.T, b.Context(), strings.NewReader(""), b.environ(), args...)
}

func (b *bench) environ() []string {
	return []string{"XDG_STATE_HOME=" + filepath.Join(b.dir, "state"), "PAWL_DATABASE=sqlite:" + filepath.Join(b.dir, "runs.db"), "PAWL_TOKEN=" + token, "PATH=" + os.Getenv("PATH")}
}

func (b *bench) must(want int, args ...string) string {
	b.Helper()
	code, stdout, stderr := b.pawl(args...)
	if code != want {
		b.Fatalf("pawl %s: exit %d, want %d\n%s%s", strings.Join(args, " "), code, want, stdout, stderr)
	}
	return stdout
}

// serve serves the agent until halt is called.
func (b *bench) serve() {
	b.Helper()
	at, end, err := begin(b.environ(), serving, "serve", b.file("x.yaml"), "--addr", "127.0.0.1:0")
	must(b, err)
	b.url, b.halt = at[1], func() { end() }
	b.Cleanup(b.halt)
}

// file is the path of a spec or a script.
func (b *bench) file(name string) string { return filepath.Join(b.home, name) }

func (b *bench) atServer() bool { return b.origin == "server" }

func (b *bench) there() []string {
	if b.atServer() {
		return []string{"--server", b.url}
	}
	return nil
}

func (b *bench) report(run string) explain.Report {
	b.Helper()
	var r explain.Report
	must(b, json.Unmarshal([]byte(b.must(0, append([]string{"explain", run, "--json"}, b.there()...)...)), &r))
	return r
}

func (b *bench) shown(run string) pawl.Result {
	b.Helper()
	var r pawl.Result
	must(b, json.Unmarshal([]byte(b.must(0, append([]string{"show", run, "--json"}, b.there()...)...)), &r))
	return r
}

// argv is a line as a shell reads it, its words in capitals replaced.
func (b *bench) argv(line string) []string {
	b.Helper()
	text, ok := strings.CutPrefix(line, "pawl ")
	if !ok {
		b.Fatalf("%q is no command", line)
	}
	out, err := exec.CommandContext(b.Context(), "sh", "-c", `printf '%s\n' `+text).Output()
	if err != nil {
		b.Fatalf("%q: %v", line, err)
	}
	argv := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	for i, word := range argv {
		switch word {
		case "INPUT":
			argv[i] = "and more"
		case "TEXT":
			argv[i] = "yes"
		case "EXPR":
			argv[i] = "tool_calls >= 9"
		case "JSON":
			argv[i] = `"b7"`
		case "SPEC":
			argv[i] = b.file("x.yaml")
			if b.origin == "child" && argv[0] == "resume" {
				argv[i] = b.file("boss.yaml")
			}
		case "PROVIDER/NAME":
			argv[i] = "script:" + b.file("ok.script.yaml")
		default:
			if word == strings.ToUpper(word) && regexp.MustCompile(`^[A-Z/]+$`).MatchString(word) && len(word) < 26 {
				b.Fatalf("%q: what is to be put for %s?", line, word)
			}
		}
	}
	return argv
}

// The agent of a Go program is not known here: the run is resumed as an agent of a spec, and the
// refusal of one that differs repeats what was typed.
func TestAdviceAboutPrograms(t *testing.T) {
	b := &bench{T: t, dir: t.TempDir()}
	b.Chdir(b.dir)
	for name, text := range map[string]string{
		"x.yaml":        "name: x\nmodel: script:x.script.yaml\nlimits: {iterations: 1}\n" + looking,
		"x.script.yaml": oneLook,
		"y.yaml":        "name: x\nmodel: script:x.script.yaml\nprompt: Look well.\n" + looking,
	} {
		must(t, os.WriteFile(name, []byte(text), 0o600))
	}
	registry := &spec.Registry{Models: map[string]spec.Provider{"script": func(file string) (pawl.Model, error) { return script.Load(file) }}}
	made, err := spec.Load("x.yaml", &spec.Options{Registry: registry})
	must(t, err)
	agent, err := made.Agent(registry)
	must(t, err)
	agent.Source = "" // a program's has none
	j := b.journal()
	h, err := engine.New(j, nil).Start(t.Context(), agent, "go", nil)
	if err == nil {
		_, err = h.Wait(t.Context())
	}
	if err = errors.Join(err, j.Close()); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := b.pawl("resume", "last"); code != 2 || !strings.Contains(stderr, "was not started from a spec") {
		t.Errorf("resume: exit %d: %s", code, stderr)
	}
	if code, _, stderr := b.pawl("replay", "last"); code != 2 || !strings.Contains(stderr, "Engine.Replay") || strings.Contains(stderr, "--spec") {
		t.Errorf("replay: exit %d: %s", code, stderr)
	}
	_, _, stderr := b.pawl("resume", "last", "--spec", "y.yaml", "--limit", "iterations=+5")
	m := regexp.MustCompile(`resume it with: (pawl .*); or fork`).FindStringSubmatch(stderr)
	if m == nil {
		t.Fatalf("nothing is advised: %s", stderr)
	}
	b.must(0, b.argv(m[1])...)
	if r := b.shown("last"); r.Status != pawl.StatusSuccess {
		t.Errorf("%s: the run is %v", m[1], r.Status)
	}
}

// TestAdviceWorksWhileItRuns follows, waits for and ends a run as is advised about one
// that somebody drives.
func TestAdviceWorksWhileItRuns(t *testing.T) {
	b := &bench{T: t, origin: "spec", dir: t.TempDir()}
	for name, text := range map[string]string{"x.yaml": "name: x\nmodel: script:x.script.yaml\n", "x.script.yaml": "replies: [{text: never, hang: true}]\n"} {
		must(t, os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o600))
	}
	b.Chdir(b.dir)
	driven := make(chan int, 1)
	go func() { code, _, _ := b.pawl("run", "x.yaml", "go"); driven <- code }()
	if !soon(func() bool {
		for h := range b.heads() {
			b.run = h.Run
			return h.Status == pawl.StatusRunning && h.Seq > 1
		}
		return false
	}) {
		t.Fatal("the run does not begin")
	}
	report := b.report(b.run)
	want := map[string]int{"wait": 130, "events": 0, "cancel": 0}
	type exit struct {
		command   string
		code      int
		out, errs string
	}
	exits := make(chan exit, len(report.Next))
	if len(report.Next) != len(want) || report.Action != report.Next[0].Command {
		t.Fatalf("%+v is advised, and %q recommended", report.Next, report.Action)
	}
	for _, next := range report.Next { // the last of them ends it, and so the others
		go func() {
			code, out, errs := b.pawl(b.argv(next.Command)...)
			exits <- exit{next.Command, code, out, errs}
		}()
	}
	for range report.Next {
		e := <-exits
		if code, ok := want[strings.Fields(e.command)[1]]; !ok || e.code != code {
			t.Errorf("%s: exit %d\n%s%s", e.command, e.code, e.out, e.errs)
		}
	}
	if code := <-driven; code != 130 {
		t.Errorf("the run exits with %d", code)
	}
}

var must = check.Must
