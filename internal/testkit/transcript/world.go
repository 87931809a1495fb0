package transcript

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/process"
	"github.com/pawl-run/pawl/internal/testkit"
	"github.com/pawl-run/pawl/tool"
)

// world is what is outside the runs of a transcript: the model, the tools,
// what there is to see. It does what the script says, in the order of its lines.
type world struct {
	first    pawl.Agent // the agent of the transcript, for those that hand back to it
	mu       sync.Mutex
	price    *pawl.Price
	reply    int    // the most tokens of a reply
	effort   string // what models think with by themselves
	hooks    []engine.Hook
	thoughts []thought
	tools    map[string][]string
	sights   []string
	measures []string
	decides  []string          // what the approver says
	digests  map[string]string // of what the tools rely on
	requests []pawl.Request
	ran      []string        // what the tools really did
	proc     *testkit.Mortal // the process that lives now
	end      chan struct{}   // closed when the transcript is over, to let go of what hangs
}

// Describe names the model.
func (w *world) Describe() pawl.ModelInfo {
	return pawl.ModelInfo{Name: "transcript", Price: w.price, Reply: w.reply, Effort: w.effort}
}

// Hosts implements tool.Host.
func (w *world) Hosts([]pawl.ToolInfo) error { return nil }

// Stream says the next line of the model's script.
func (w *world) Stream(ctx context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) {
		w.mu.Lock()
		w.requests = append(w.requests, r)
		t := thought{fail: &pawl.ModelError{Class: pawl.ClassInvalid, Message: "the transcript has no further think line"}}
		if len(w.thoughts) > 0 {
			t, w.thoughts = w.thoughts[0], w.thoughts[1:]
		}
		proc := w.proc
		w.mu.Unlock()
		if err := w.wait(ctx, t.after, t.hang, t.stuck); err != nil {
			yield(pawl.Chunk{}, err)
			return
		}
		switch {
		case t.die:
			proc.Die()
			yield(pawl.Chunk{}, context.Canceled)
		case t.panic:
			panic("the model broke")
		case t.fail != nil:
			yield(pawl.Chunk{}, t.fail)
		default:
			yield(pawl.Chunk{Reply: &t.reply}, nil)
		}
	}
}

// wait takes as long as the script says.
func (w *world) wait(ctx context.Context, d time.Duration, hang, stuck bool) error {
	var over <-chan time.Time
	if !hang && !stuck {
		if d == 0 {
			return nil
		}
		over = time.After(d)
	}
	done := ctx.Done()
	if stuck {
		done = nil
	}
	select {
	case <-over:
		return nil
	case <-done:
		return ctx.Err()
	case <-w.end:
		return errors.New("the transcript is over")
	}
}

// take takes the next line of a script; without one, otherwise.
func take(mu *sync.Mutex, lines *[]string, otherwise string) string {
	mu.Lock()
	defer mu.Unlock()
	if len(*lines) == 0 {
		return otherwise
	}
	line := (*lines)[0]
	*lines = (*lines)[1:]
	return line
}

// Observe sees the next see line; "error TEXT" sees nothing.
func (w *world) Observe(context.Context) (pawl.Observation, error) {
	line := take(&w.mu, &w.sights, "nothing new")
	if why, ok := strings.CutPrefix(line, "error "); ok {
		return pawl.Observation{}, errors.New(why)
	}
	return pawl.Observation{Text: line}, nil
}

// Measure reads the next measure line: a number, and what is open by name.
func (w *world) Measure(context.Context, pawl.Observation) (m pawl.Measured, err error) {
	words := strings.Fields(take(&w.mu, &w.measures, "error nothing is scripted"))
	if m.Value, err = strconv.ParseFloat(words[0], 64); err != nil {
		return m, errors.New(strings.Join(words[1:], " "))
	}
	m.Open = words[1:]
	return m, nil
}

// skew keeps calls apart that start at once. It is too short to be shown.
const skew = time.Nanosecond

// scripted is a tool of the world.
type scripted struct {
	world     *world
	info      pawl.ToolInfo
	witnesses []string

	supervised string
}

// Supervised says what the tool is declared to say.
func (s scripted) Supervised(pawl.Invocation) string { return s.supervised }

// Witness tells the digests of what the tool is declared to rely on.
func (s scripted) Witness(context.Context, json.RawMessage) (map[string]string, error) {
	s.world.mu.Lock()
	defer s.world.mu.Unlock()
	var seen map[string]string
	for _, name := range s.witnesses {
		if seen == nil {
			seen = map[string]string{}
		}
		seen[name] = s.world.digests[name]
		if seen[name] == "gone" {
			return nil, errors.New(name + " is gone")
		}
	}
	return seen, nil
}

// Reconcile says the next line for the tool's name with a question mark: happened RESULT,
// failed TEXT, late TEXT, not, error TEXT, panic TEXT, or hang. Without one it cannot tell.
func (s scripted) Reconcile(ctx context.Context, inv pawl.Invocation) (pawl.Output, bool, error) {
	s.world.mu.Lock()
	line, lines := "error it cannot tell", s.world.tools[inv.Tool+"?"]
	if len(lines) > 0 {
		line, s.world.tools[inv.Tool+"?"] = lines[0], lines[1:]
		asked := fmt.Sprintf("%s? call=%s attempt=%d", inv.Tool, inv.Call, inv.Attempt)
		if inv.Supervised != "" {
			asked += " supervised=" + inv.Supervised
		}
		s.world.ran = append(s.world.ran, asked)
	}
	s.world.mu.Unlock()
	switch word, rest, _ := strings.Cut(line, " "); word {
	case "happened":
		files, rest := filesIn(rest)
		return pawl.Output{JSON: json.RawMessage(rest), Files: files}, true, nil
	case "failed":
		return pawl.Output{}, true, errors.New(rest)
	case "late":
		return pawl.Output{}, true, fmt.Errorf("%s: %w", rest, context.DeadlineExceeded)
	case "not":
		return pawl.Output{}, false, nil
	case "panic":
		panic(rest)
	case "hang":
		return pawl.Output{}, false, s.world.wait(ctx, 0, true, false)
	default:
		return pawl.Output{}, false, errors.New(rest)
	}
}

// Approve says the next decide line: approve [JSON], run [JSON], deny [REASON],
// later, error TEXT, panic TEXT or hang.
func (w *world) Approve(ctx context.Context, r engine.Request) (d engine.Decision, err error) {
	line := take(&w.mu, &w.decides, "later")
	word, rest, _ := strings.Cut(line, " ")
	if after, ok := strings.CutPrefix(word, "after="); ok {
		var pause time.Duration
		if pause, err = time.ParseDuration(after); err != nil {
			return d, err
		}
		if err := w.wait(ctx, pause, false, false); err != nil {
			return d, err
		}
		word, rest, _ = strings.Cut(rest, " ")
	}
	clear(r.Args) // which is a copy
	switch word {
	case "approve", "run":
		if d.Approve = true; word == "run" {
			d.Scope = approval.ForRun
		}
		if rest != "" {
			d.Args = json.RawMessage(rest)
		}
	case "deny":
		d.Reason = rest
	case "later":
		return d, engine.ErrLater
	case "panic":
		panic(rest)
	case "hang":
		return d, w.wait(ctx, 0, true, false)
	default:
		return d, errors.New(rest)
	}
	return d, nil
}

// Info returns what was declared.
func (s scripted) Info() pawl.ToolInfo { return s.info }

// Run does what the next line for the tool says: [after=D] [report FRACTION TEXT; …] RESULT, error TEXT,
// panic TEXT, ask QUESTION, ask-for KEY QUESTION, answer KEY, hang (until the context ends), stuck (even then), late (finishes
// although it was told to stop), die (its effect takes place, and the process
// is killed before it can tell), or big N.
func (s scripted) Run(ctx context.Context, inv pawl.Invocation) (pawl.Output, error) {
	// Calls that start at once take their lines in the order of their numbers.
	n, _ := strconv.Atoi(strings.TrimPrefix(inv.Call, "c_"))
	time.Sleep(time.Duration(n) * skew)
	s.world.mu.Lock()
	lines := s.world.tools[inv.Tool]
	line := "ok"
	if len(lines) > 0 {
		line, s.world.tools[inv.Tool] = lines[0], lines[1:]
	}
	s.world.ran = append(s.world.ran, fmt.Sprintf("%s%s call=%s attempt=%d", inv.Tool, inv.Args, inv.Call, inv.Attempt))
	proc := s.world.proc
	s.world.mu.Unlock()

	if d, ok := strings.CutPrefix(line, "after="); ok {
		d, line, _ = strings.Cut(d, " ")
		after, err := time.ParseDuration(d)
		if err != nil {
			return pawl.Output{}, err
		}
		if err := s.world.wait(ctx, after, false, false); err != nil {
			return pawl.Output{}, err
		}
	}
	for strings.HasPrefix(line, "report ") {
		said, rest, _ := strings.Cut(strings.TrimPrefix(line, "report "), "; ")
		fraction, text := process.ParseProgress(said)
		tool.Progress(ctx, fraction, text)
		line = rest
	}
	files, line := filesIn(line)
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "error":
		return pawl.Output{}, errors.New(rest)
	case "ask":
		return pawl.Output{}, pawl.AskPerson{Question: rest}
	case "ask-for":
		key, question, _ := strings.Cut(rest, " ")
		return pawl.Output{}, pawl.AskPerson{Question: question, Key: key}
	case "answer":
		line = inv.Answers[rest]
	case "panic":
		panic(rest)
	case "die":
		proc.Die()
		return pawl.Output{}, errors.New("killed")
	case "late":
		d, err := time.ParseDuration(rest)
		if err == nil {
			time.Sleep(d)
		}
		return pawl.Output{JSON: json.RawMessage(`"done all the same"`)}, err
	case "hang", "stuck":
		return pawl.Output{}, s.world.wait(ctx, 0, true, word == "stuck")
	case "big":
		n, err := strconv.Atoi(rest)
		line = strings.Repeat("0123456789", n/10)
		if err != nil {
			return pawl.Output{}, err
		}
	}
	if json.Valid([]byte(line)) {
		return pawl.Output{JSON: json.RawMessage(line), Files: files}, nil
	}
	raw, err := json.Marshal(line)
	return pawl.Output{JSON: raw, Files: files}, err
}

// filesIn returns the files with which a line begins, each as "file NAME TEXT; ", and the rest.
func filesIn(line string) (files []pawl.File, rest string) {
	for strings.HasPrefix(line, "file ") {
		file, rest, _ := strings.Cut(strings.TrimPrefix(line, "file "), "; ")
		name, text, _ := strings.Cut(file, " ")
		files, line = append(files, pawl.File{Name: name, Data: []byte(text)}), rest
	}
	return files, line
}
