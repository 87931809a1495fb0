package transcript

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/testkit"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/pawltest"
	"github.com/pawl-run/pawl/stop"
)

// RunFiles runs the transcripts dir/*.txt, each in its own synctest bubble. With
// -rewrite it writes the results instead of comparing. A transcript is a list of
// commands, each with its input, ---- and its result:
//
//	agent          declares the agent, a line a field, and empties the world;
//	               with keep, the world and its runs stay
//	run            [input=(TEXT)] [thread=NAME] [key=KEY] [kill=before:WHAT|after:WHAT]:
//	               starts a run
//	resume         [limits=(K=V, …)] [stop=(EXPR)] [change] [kill=…]
//	fork           at=SEQ [input=(TEXT)]: continues from there as another run
//	answer, submit, approve, approve-run, deny, happened, unhappened   CALL, given TEXT or JSON
//	change         NAME, given anything: changes the precondition of that name
//	               a call of a child run is written .c_1/c_1: of the child c_1
//	child          CALL: the log of a call's child run
//	leg            the log of the run that the run has handed over to, which the next
//	               command is about
//	cancel         given a reason: ends a run without an owner
//	cancel-call    CALL, given a reason
//	say, say-after given a text: a message to the run
//	signal         NAME, given a text: a message of that name
//	wait           D: lets time pass
//	replay         decides every step of the log again
//	result         the run's result
//	requests       the requests to the model since the last such command, without
//	               what the previous request had
//	ran            the calls that the tools performed since the last such command
//	save           NAME: compares the log with ../histories/NAME.jsonl, and decides it again
//
// agent, run, resume and fork take script lines. think, tool NAME -> …, see,
// measure and decide say what the world does next; tool NAME? -> … is how a tool
// reconciles an interrupted call; at D VERB happens meanwhile: cancel, park, close,
// or a signal. WHAT is a type of entry, a seq, or leg: the first entry of a run that is
// handed over to.
func RunFiles(t *testing.T, dir string) {
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts in %s: %v", dir, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &stage{t: t, dir: dir}
				defer s.clear()
				datadriven.RunTest(t, file, func(_ *testing.T, d *datadriven.TestData) string {
					d.Input = full(d.Input)
					out, err := s.perform(d)
					if err != nil {
						out += "error: " + err.Error() + "\n"
					}
					return brief(out)
				})
			})
		})
	}
}

const lease = 15 * time.Second

// stage is where one transcript takes place.
type stage struct {
	t       *testing.T
	dir     string
	journal *memory.Journal
	world   *world
	agent   pawl.Agent
	run     string // the run the next command is about
	runs    int
	shown   uint64 // the last entry that was printed
	told    int    // requests that were printed
	last    time.Time
}

// clear lets go of what hangs.
func (s *stage) clear() {
	if s.world != nil {
		s.rebuilt()
		close(s.world.end)
		time.Sleep(lease) // for engines, too, to see that nobody needs them any more
	}
}

func (s *stage) perform(d *datadriven.TestData) (string, error) {
	word := ""
	if len(d.CmdArgs) > 0 && len(d.CmdArgs[0].Vals) == 0 {
		word = d.CmdArgs[0].Key
	}
	switch d.Cmd {
	case "agent":
		if word == "keep" {
			return "", s.amend(d.Input)
		}
		return "", s.declare(d.Input)
	case "run", "resume", "fork":
		return s.drive(d)
	case "replay":
		steps, err := s.engine().Replay(s.t.Context(), s.agent, s.run)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%d steps agree\n", steps), nil
	case "wait":
		pause, err := time.ParseDuration(word)
		time.Sleep(pause)
		return "", err
	case "change":
		s.world.mu.Lock()
		s.world.digests[word] = strings.TrimSpace(d.Input)
		s.world.mu.Unlock()
		return "", nil
	case "result":
		return s.result()
	case "requests":
		return s.requests(), nil
	case "child":
		return s.child(s.run + "." + word)
	case "ran":
		s.world.mu.Lock()
		defer s.world.mu.Unlock()
		out := strings.Join(s.world.ran, "\n")
		s.world.ran = nil
		return out, nil
	case "leg":
		state, err := engine.Load(s.t.Context(), s.journal, s.run)
		if err != nil {
			return "", err
		}
		s.run, s.shown = engine.NextLeg(state.Head().Thread, s.run), 0
		return s.entries()
	case "save":
		return "", s.save(d, word)
	}
	if err := s.signal(strings.TrimSpace(d.Cmd + " " + word + " " + d.Input)); err != nil {
		return "", err
	}
	return s.entries()
}

// declare sets the agent and empties the world.
func (s *stage) declare(input string) (err error) {
	s.clear()
	s.world = &world{end: make(chan struct{}), tools: map[string][]string{}, digests: map[string]string{}}
	s.journal, s.told = memory.New(), 0
	var fields []string
	for line := range strings.Lines(input) {
		if ok, err := s.script(line); err != nil {
			return err
		} else if !ok {
			fields = append(fields, line)
		}
	}
	s.agent, err = s.world.agent(strings.Join(fields, ""))
	if err == nil {
		s.agent.Model = pawltest.Check(s.t, s.world)
		s.world.first = s.agent
		_, err = pawl.NewMachine(s.agent)
	}
	return err
}

// amend declares the agent again and keeps the world.
func (s *stage) amend(input string) error {
	agent, err := s.world.agent(input)
	agent.Model = pawltest.Check(s.t, s.world)
	s.agent, s.world.first = agent, agent
	return err
}

// script takes a line about what the world does next.
func (s *stage) script(line string) (ok bool, err error) {
	word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	w := s.world
	w.mu.Lock()
	defer w.mu.Unlock()
	switch word {
	case "think":
		var t thought
		t, err = readThought(rest)
		w.thoughts = append(w.thoughts, t)
	case "see":
		w.sights = append(w.sights, rest)
	case "decide":
		w.decides = append(w.decides, rest)
	case "measure":
		w.measures = append(w.measures, rest)
	case "tool":
		name, outcome, arrow := strings.Cut(rest, " -> ")
		if !arrow {
			return false, nil
		}
		w.tools[name] = append(w.tools[name], outcome)
	default:
		return false, nil
	}
	return true, err
}

// engine is a process of its own: a new engine on the shared journal.
func (s *stage) engine() *engine.Engine {
	s.world.mu.Lock()
	s.world.proc = &testkit.Mortal{Journal: s.journal, Cut: deathAt("")}
	s.world.mu.Unlock()
	o := &engine.Options{
		Lease: lease, Owner: &engine.Owner{User: "transcript"}, Hooks: s.world.hooks,
		Backoff: func(n int) time.Duration { return time.Duration(n) * time.Second },
	}
	o.Approver = s.world // who leaves everything to others while no line says what to decide
	return engine.New(s.world.proc, o)
}

// drive starts or goes on with a run until it is let go of.
func (s *stage) drive(d *datadriven.TestData) (string, error) {
	eng := s.engine()
	proc := s.world.proc
	ctx, park := context.WithCancelCause(s.t.Context())
	defer park(nil)
	var meanwhile []func()
	for line := range strings.Lines(d.Input) {
		ok, err := s.script(line)
		if err == nil && !ok {
			var f func()
			f, err = s.meanwhile(line, eng, park)
			meanwhile = append(meanwhile, f)
		}
		if err != nil {
			return "", err
		}
	}
	run, err := s.launch(ctx, eng, d)
	if err != nil {
		return "", err
	}
	for _, f := range meanwhile {
		go f()
	}
	deadline, cancel := context.WithTimeout(s.t.Context(), 30*24*time.Hour)
	defer cancel()
	_, err = run.Wait(deadline)
	out, bad := s.entries()
	if bad != nil {
		return out, bad
	}
	if proc.Dead() {
		time.Sleep(lease) // nobody is told; its lease lapses
		return out + "(killed)\n", nil
	}
	return out, err
}

func (s *stage) launch(ctx context.Context, eng *engine.Engine, d *datadriven.TestData) (run *engine.Handle, err error) {
	input, at, change := "go", uint64(0), false
	var start engine.StartOptions
	var o engine.ResumeOptions
	for _, a := range d.CmdArgs {
		value := strings.Join(a.Vals, ", ")
		switch a.Key {
		case "input":
			input = value
		case "at":
			at, err = strconv.ParseUint(value, 10, 64)
		case "thread":
			start.Thread = value
		case "key":
			start.Key = value
		case "kill":
			s.world.proc.Cut = deathAt(value)
		case "change":
			change = true
		case "stop":
			o.Stop, err = stop.Parse(value, nil)
		case "limits":
			now, bad := engine.Load(ctx, s.journal, s.run)
			if err = bad; err == nil {
				o.Limits, err = limits(a.Vals, now.Limits())
			}
		default:
			err = fmt.Errorf("%s has no argument %q", d.Cmd, a.Key)
		}
		if err != nil {
			return nil, err
		}
	}
	o.AllowChange = change
	if d.Cmd == "resume" {
		return eng.Resume(ctx, s.agent, s.run, &o)
	}
	from, shown, last := s.run, s.shown, s.last
	s.runs++
	s.run, s.shown, s.last = fmt.Sprintf("run-%d", s.runs), 0, time.Time{}
	if d.Cmd == "run" {
		if start.Thread == "" && start.Key == "" {
			start.ID = s.run
		}
		if run, err = eng.Start(ctx, s.agent, input, &start); err != nil {
			s.run, s.shown, s.last = from, shown, last
		} else if s.run = run.ID(); s.run == from {
			s.shown, s.last = shown, last // it was found under its key
		}
		return run, err
	}
	if input == "go" {
		input = ""
	}
	s.shown = at
	run, err = eng.Fork(ctx, s.agent, from, at, &engine.ForkOptions{ID: s.run, Input: input, AllowChange: change, Limits: o.Limits, Stop: o.Stop})
	if err != nil {
		s.run = from
	}
	return run, err
}

// meanwhile reads what is to happen while the run is driven: at D VERB.
func (s *stage) meanwhile(line string, eng *engine.Engine, park context.CancelCauseFunc) (func(), error) {
	var after, verb string
	if word, rest, _ := strings.Cut(strings.TrimSpace(line), " "); word == "at" {
		after, verb, _ = strings.Cut(rest, " ")
	}
	pause, err := time.ParseDuration(after)
	if err != nil {
		return nil, fmt.Errorf("%q is no line of script", strings.TrimSpace(line))
	}
	return func() {
		time.Sleep(pause)
		var err error
		switch verb {
		case "park":
			park(errors.New("the program ends"))
		case "close":
			err = eng.Close()
		default:
			err = s.signal(verb)
		}
		if err != nil {
			s.t.Errorf("%s: %v", strings.TrimSpace(line), err)
		}
	}, nil
}

// signal says something to the run from another process.
func (s *stage) signal(line string) error {
	verb, rest, _ := strings.Cut(line, " ")
	call, rest, _ := strings.Cut(rest, " ")
	rest = strings.TrimSpace(rest)
	other := engine.New(s.journal, &engine.Options{Lease: lease, Owner: &engine.Owner{User: "somebody"}})
	ctx, run := s.t.Context(), s.run
	if child, of, ok := strings.Cut(call, "/"); ok {
		run, call = run+child, of
	}
	var raw json.RawMessage
	if rest != "" {
		raw = json.RawMessage(rest)
	}
	switch verb {
	case "answer":
		return other.Answer(ctx, run, call, "anna", rest)
	case "submit":
		return other.Submit(ctx, run, call, "anna", raw)
	case "approve":
		return other.Approve(ctx, run, call, "anna", &engine.ApproveOptions{Args: raw})
	case "approve-run", "approve-thread", "approve-agent":
		return other.Approve(ctx, run, call, "anna", &engine.ApproveOptions{Args: raw, Reach: approval.Reach{Scope: verb[len("approve-"):]}})
	case "deny":
		return other.Deny(ctx, run, call, "anna", rest, nil)
	case "happened":
		return other.Resolve(ctx, run, call, "anna", engine.Happened(raw))
	case "unhappened":
		return other.Resolve(ctx, run, call, "anna", engine.DidNotHappen())
	case "say":
		return other.Say(ctx, run, "anna", strings.TrimSpace(call+" "+rest), nil)
	case "say-after":
		return other.Say(ctx, run, "anna", strings.TrimSpace(call+" "+rest), &engine.SayOptions{After: true})
	case "signal":
		return other.Say(ctx, run, "anna", rest, &engine.SayOptions{Signal: call})
	case "cancel-call":
		return other.CancelCall(ctx, run, call, "anna", rest)
	case "cancel":
		return other.Cancel(ctx, run, "anna", strings.TrimSpace(call+" "+rest))
	}
	return fmt.Errorf("no command %q", verb)
}
