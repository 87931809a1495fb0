package cli_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/cmd/internal/cli"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/sqlite"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/tool"
)

// evil is what a model, a tool or a stranger may say to take over a terminal: CSI
// and OSC, in seven and eight bits, a title, the clipboard, a hyperlink, a bell,
// overwriting, DEL, what turns the direction of writing, and what is not seen.
const evil = "x\x1b[2J\x1b[1;31mred\x1b]0;owned\x07\x1b]52;c;ZXZpbA==\x1b\\\x1b]8;;http://evil.example\x07link\x1b]8;;\x07" +
	"\x1bPq\x1b\\\x1b_G\x1b\\\x07\x08\x08\rover\x7f\u009b2J\u009d0;c1\u009c\u0085\u202egnp.exe\u202c\u2066i\u2069\u200bz\u200dj\ufeff\U000e0041 \x00y"

// hostileRuns leaves runs in a database whose every text is hostile.
func hostileRuns(t *testing.T, path string) {
	t.Helper()
	ctx := t.Context()
	j, err := sqlite.Open(ctx, path, nil)
	must(t, err)
	defer j.Close()
	args, _ := json.Marshal(map[string]string{"to": evil})
	worse, _ := json.Marshal(map[string]string{"to": evil, evil: evil})
	free := json.RawMessage(`{"type":"object","additionalProperties":true}`)
	type in struct {
		To string `json:"to"`
	}
	say := func(context.Context, in) (string, error) { return evil, nil }
	fail := func(context.Context, in) (string, error) { return "", errors.New(evil) }
	run := func(id string, a pawl.Agent) {
		a.Name, a.Description, a.Prompt = "agent", evil, evil
		h, err := engine.New(j, nil).Start(ctx, a, evil, &engine.StartOptions{ID: id, Labels: map[string]string{"team" + evil: evil}})
		must(t, err)
		if _, err := h.Wait(ctx); err != nil {
			t.Fatal(err)
		}
	}
	tools := []pawl.Tool{
		tool.Func("say", evil, say, pawl.Read), tool.Func("fail", evil, fail, pawl.Read),
		tool.Func("pay", evil, say, pawl.Write), tool.AskHuman(), tool.Client("pick", evil, free, nil),
	}
	thinks := func(calls ...pawl.Call) pawl.Reply {
		r := pawl.Do(calls...)
		r.Parts = append([]pawl.Part{pawl.Thinking{Text: evil}, pawl.Text{Text: evil}}, r.Parts...)
		return r
	}
	question, _ := json.Marshal(map[string]string{"question": evil})
	run("done", pawl.Agent{Model: script.Replies(
		thinks(pawl.Call{Tool: "say", Args: args}, pawl.Call{Tool: "fail", Args: args}, pawl.Call{Tool: "no" + evil, Args: args}, pawl.Call{Tool: "say", Args: worse}),
		pawl.Say(evil)), Tools: tools})
	waits := pawl.Agent{Model: script.Replies(
		thinks(pawl.Call{Tool: "pay", Args: args}, pawl.Call{Tool: "ask_human", Args: question}, pawl.Call{Tool: "pick", Args: args}), pawl.Say(evil),
	), Tools: tools, Policies: []pawl.Policy{approval.For("pay")}}
	run("waits", waits)
	run("denied", waits)
	e := engine.New(j, nil)
	must(t, e.Deny(ctx, "denied", "c_1", evil, evil, nil))
	must(t, e.Answer(ctx, "denied", "c_2", evil, evil))
	must(t, e.Cancel(ctx, "denied", evil, evil))
	run("broken", pawl.Agent{Model: pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) {
		return pawl.Reply{}, errors.New(evil)
	}), Limits: pawl.Limits{Attempts: 1}})
}

// No command lets what is in a log, in a spec or in its arguments act on a
// terminal, on either of its streams; and what is meant for programs has it
// escaped, so that it does not act when somebody looks at it.
func TestHostileTerminal(t *testing.T) {
	dir := t.TempDir()
	hostileRuns(t, filepath.Join(dir, "runs.db"))
	quoted, _ := json.Marshal(evil)
	text := `{"name":"bad","model":"script:reply.json","prompt":` + string(quoted) + `,"input":` + string(quoted) + `,"labels":{"k":` + string(quoted) + `}}`
	for name, data := range map[string]string{"bad.json": text, "wrong.json": `{"name":` + string(quoted) + `,` + string(quoted) + `:1}`, "reply.json": `{"replies":[{"text":` + string(quoted) + `}]}`} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600))
	}
	t.Chdir(dir)
	var commands [][]string
	for _, id := range []string{"done", "waits", "denied", "broken"} {
		commands = append(commands, [][]string{
			{"show", id}, {"show", id, "--cost"}, {"show", id, "--spec"}, {"events", id}, {"explain", id}, {"wait", id, "--timeout", "10ms"},
			{"replay", id}, {"export", id}, {"export", id, "--raw"}, {"resume", id}, {"fork", id, "--at", "2"},
			{"approve", id}, {"approve", id, "c_9" + evil}, {"deny", id, "c_1", "--reason", evil, "--by", evil}, {"answer", id, evil}, {"answer", id, evil, "--id", evil},
			{"submit", id, "c_3", `"x"`}, {"submit", id, evil, evil}, {"settle", id, "c_1", "--did-not-happen"}, {"cancel", id, "--reason", evil},
		}...)
	}
	commands = append(commands,
		[]string{"runs"}, []string{"runs", "--label", "team" + evil + "=" + evil}, []string{"runs", "--status", evil}, []string{"show", evil}, []string{"show", ""},
		[]string{"run", "bad.json"}, []string{"run", "bad.json", "--events", "-"}, []string{"run", "wrong.json"}, []string{"check", "wrong.json"}, []string{"check", "bad.json"},
		[]string{"gc", "--dry-run"}, []string{"run", evil}, []string{evil}, []string{"--" + evil}, []string{"run", "bad.json", "--model", evil}, []string{"run", "bad.json", "--stop", evil})
	for _, c := range commands {
		for _, json := range []bool{false, true} {
			if json {
				c = append(c[:len(c):len(c)], "--json")
			}
			seen := onTerminal(t, c)
			if bad := actsIn(seen); bad != "" {
				t.Errorf("pawl %q lets the terminal see %q:\n%q", c, bad, seen)
			}
			if strings.Contains(seen, "panic") {
				t.Errorf("pawl %q: %s", c, seen)
			}
		}
	}
}

// onTerminal runs a command with both streams on a terminal and returns what was
// written to it.
func onTerminal(t *testing.T, args []string) string {
	t.Helper()
	person, program := terminal(t)
	var seen strings.Builder
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(&seen, person)
	}()
	cli.Main(t.Context(), args, strings.NewReader(""), program, program, []string{"PAWL_DATABASE=sqlite:runs.db", "NO_COLOR=1", "PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")})
	_ = program.Close()
	<-done
	_ = person.Close()
	return seen.String()
}

// ours are the sequences that the live view writes.
var ours = regexp.MustCompile("\x1b\\[(?:K|J|[0-9]+A|\\?25[hl])|\r")

// actsIn is what in a text acts on a terminal, beyond what the live view may.
func actsIn(seen string) string {
	seen = ours.ReplaceAllString(seen, "")
	i := strings.IndexFunc(seen, func(r rune) bool {
		return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r))
	})
	if i < 0 {
		return ""
	}
	return seen[i:min(len(seen), i+20)]
}
