package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/engine/archive"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/tool"
)

// chatter is an agent that answers with how many texts of people it was sent, and
// keeps the last request.
func chatter() (pawl.Agent, *pawl.Request) {
	last := new(pawl.Request)
	var mu sync.Mutex
	return pawl.Agent{Name: "chatter", Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		mu.Lock()
		defer mu.Unlock()
		*last = r
		n := 0
		for _, m := range r.Messages {
			if m.Role == pawl.RoleUser {
				n++
			}
		}
		return pawl.Say(fmt.Sprint(n)), nil
	})}, last
}

func talks(t *testing.T, e *engine.Engine, agent pawl.Agent, input, thread string) pawl.Result {
	t.Helper()
	h, err := e.Start(t.Context(), agent, input, &engine.StartOptions{Thread: thread})
	must(t, err)
	r, err := wait(t, h)
	must(t, err)
	return r
}

// chain is the runs of a thread, and checks that each begins where the one before
// ended.
func chain(t *testing.T, j pawl.Journal, thread string) (runs []string) {
	t.Helper()
	after := ""
	for {
		id := engine.ThreadRun(thread, after)
		log := logOf(t, j, id)
		if len(log) == 0 {
			return runs
		}
		first, err := pawl.DecodeEntry([]byte(log[0]))
		must(t, err)
		start := first.Event.(pawl.RunStarted)
		if c := start.Continues; (c == nil) != (after == "") || c != nil && (c.Run != after || int(c.Seq) != len(logOf(t, j, after))) {
			t.Errorf("run %s continues %+v, comes after %q", id, c, after)
		}
		runs, after = append(runs, id), id
	}
}

// A process that is killed before the first entry of the next run is durable leaves
// the place to another; a process that is only slow loses it and returns an error.
func TestThreadClaimLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newTap()
		agent, _ := chatter()
		e := engine.New(j, &engine.Options{Owner: &engine.Owner{User: "slow"}})
		talks(t, e, agent, "one", "talk")
		second := engine.ThreadRun("talk", engine.ThreadRun("talk", ""))
		var stalled atomic.Bool
		j.onClaim(func(c pawl.Claim, take func() (pawl.Lease, error)) (pawl.Lease, error) {
			if c.Run == second && c.Epoch > 0 && strings.Contains(c.Owner, "slow") { // nor does its heart beat
				return pawl.Lease{}, errors.New("nobody answers")
			}
			return take()
		})
		j.on(func(b pawl.Batch, write func() error) error {
			if b.Run == second && b.After == 0 && stalled.CompareAndSwap(false, true) {
				time.Sleep(time.Minute) // its lease lapses
			}
			return write()
		})
		var slow error
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, slow = e.Start(t.Context(), agent, "slow", &engine.StartOptions{Thread: "talk"})
		}()
		time.Sleep(time.Second)
		other := engine.New(j, &engine.Options{Owner: &engine.Owner{User: "quick"}})
		var busy *engine.ThreadError
		if _, err := other.Start(t.Context(), agent, "quick", &engine.StartOptions{Thread: "talk"}); !errors.As(err, &busy) || busy.Run != second {
			t.Errorf("while somebody begins it: %v", err)
		}
		time.Sleep(20 * time.Second)
		if r := talks(t, other, agent, "quick", "talk"); r.Run != second || r.Answer != "2" {
			t.Errorf("%s %q", r.Run, r.Answer)
		}
		<-done
		if !errors.Is(slow, pawl.ErrFenced) && !errors.Is(slow, pawl.ErrConflict) {
			t.Errorf("the slow one: %v", slow)
		}
		chain(t, j, "talk")
		time.Sleep(time.Minute)
	})
}

// A run that was continued is not resumed, also while its successor is only
// about to begin; one that is resumed is not continued.
func TestThreadResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newTap()
		agent, _ := chatter()
		agent.Model = pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) {
			return pawl.Reply{}, &pawl.ModelError{Class: pawl.ClassAuth, Message: "no key"}
		})
		e := engine.New(j, &engine.Options{Owner: &engine.Owner{User: "me"}})
		first := talks(t, e, agent, "one", "talk")
		if first.Status != pawl.StatusFailed {
			t.Fatal(first.Status)
		}
		next := engine.ThreadRun("talk", first.Run)
		var resumed error
		j.on(func(b pawl.Batch, write func() error) error {
			if b.Run == next && b.After == 0 {
				_, resumed = engine.New(j, nil).Resume(t.Context(), agent, first.Run, nil)
			}
			return write()
		})
		talks(t, e, agent, "two", "talk")
		var gone *engine.ContinuedError
		if !errors.As(resumed, &gone) || gone.Next != next {
			t.Errorf("resumed while it was being continued: %v", resumed)
		}
		if _, err := e.Resume(t.Context(), agent, first.Run, nil); !errors.As(err, &gone) {
			t.Errorf("resumed when it was continued: %v", err)
		}
		lease, err := j.Claim(t.Context(), pawl.Claim{Run: next, Owner: "somebody", TTL: time.Minute})
		must(t, err)
		if _, err := e.Start(t.Context(), agent, "three", &engine.StartOptions{Thread: "talk"}); !errors.As(err, new(*pawl.HeldError)) {
			t.Errorf("continued while somebody has it: %v", err)
		}
		_, err = j.Claim(t.Context(), pawl.Claim{Run: next, Owner: "somebody", Epoch: lease.Epoch})
		must(t, err)
		third := talks(t, e, agent, "three", "talk")
		if runs := chain(t, j, "talk"); len(runs) != 3 || runs[2] != third.Run {
			t.Error(runs)
		}
		time.Sleep(time.Minute)
	})
}

// A thread's run goes on elsewhere once all before it are there, and only then.
func TestThreadElsewhere(t *testing.T) {
	j := memory.New()
	agent, last := chatter()
	agent.Limits.Iterations = 1
	e := engine.New(j, nil)
	var files [][]byte
	for _, input := range []string{"one", "two", "three"} {
		r := talks(t, e, agent, input, "talk")
		var out bytes.Buffer
		must(t, archive.Export(t.Context(), j, r.Run, &out, &archive.Options{Raw: true}))
		files = append(files, out.Bytes())
	}
	here := memory.New()
	there := engine.New(here, nil)
	runs := chain(t, j, "talk")
	for i, n := range []int{2, 0, 1} {
		got, err := archive.Import(t.Context(), here, bytes.NewReader(files[n]))
		if err != nil || got.Run != runs[n] || n > 0 && got.Continues != runs[n-1] {
			t.Fatal(got, err)
		}
		_, err = there.Replay(t.Context(), agent, runs[2])
		var missing *engine.MissingError
		if i < 2 && (!errors.As(err, &missing) || missing.Earlier != runs[1]) || i == 2 && err != nil {
			t.Errorf("after %d imports: %v", i+1, err)
		}
	}
	h, err := there.Fork(t.Context(), agent, runs[2], 1, &engine.ForkOptions{Input: "and more"})
	must(t, err)
	ends(t, h, pawl.StatusSuccess)
	if got := texts(*last); got != "one|1|two|2|three|and more" {
		t.Errorf("the fork was sent %q", got)
	}
	if r := talks(t, there, agent, "four", "talk"); r.Answer != "4" {
		t.Errorf("%q", r.Answer)
	}
	if got := texts(*last); got != "one|1|two|2|three|3|four" {
		t.Errorf("the thread went on with %q", got)
	}
}

func texts(r pawl.Request) string {
	var all []string
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if text, ok := p.(pawl.Text); ok {
				all = append(all, text.Text)
			}
		}
	}
	return strings.Join(all, "|")
}

// What a thread brings along counts as input: a request that does not fit with it
// is not sent. What it spent does not count.
func TestThreadCeilings(t *testing.T) {
	j := memory.New()
	agent, last := chatter()
	e := engine.New(j, nil)
	long := strings.Repeat("many words ", 2000)
	talks(t, e, agent, long, "talk")
	for _, tokens := range []int{5000, 20000} {
		agent.Limits.Tokens = tokens
		*last = pawl.Request{}
		r := talks(t, e, agent, "short", "talk")
		if fits := tokens > 6000; fits != (r.Status == pawl.StatusSuccess) || fits != (len(last.Messages) > 0) {
			t.Errorf("with %d tokens: %v, %d messages", tokens, r.Status, len(last.Messages))
		}
		replays(t, e, agent, r.Run)
	}
	// A provider that counts far more than four bytes a token is believed.
	agent.Model = pawl.ModelFunc(func(context.Context, pawl.Request) (pawl.Reply, error) {
		r := pawl.Say("yes")
		r.Usage = pawl.Usage{Input: 15000, Output: 1}
		return r, nil
	})
	agent.Limits.Tokens = 16000
	if r := talks(t, e, agent, "dense", "dense"); r.Status != pawl.StatusSuccess {
		t.Fatal(r.Status)
	}
	if r := talks(t, e, agent, "dense", "dense"); r.Status != pawl.StatusExhausted || r.Usage.ModelCalls != 0 {
		t.Errorf("%v after %d calls", r.Status, r.Usage.ModelCalls)
	}
}

// A run that gets the id of one that is gone does not get the keys of its calls, nor does a child of it.
func TestThreadKeysAnew(t *testing.T) {
	var keys []string
	set := job{pawl.ToolInfo{Name: "set", Effect: pawl.Idempotent}, func(_ context.Context, inv pawl.Invocation) (string, error) {
		keys = append(keys, inv.Key)
		return "done", nil
	}}
	pay := set
	pay.info.Name, pay.info.Effect = "pay", pawl.Write
	aide := pawl.Agent{Name: "aide", Description: "Pays.", Model: turns([]pawl.Call{call("pay", 1)}), Tools: []pawl.Tool{pay}}
	agent := pawl.Agent{Name: "clerk", Model: turns([]pawl.Call{call("set", 1), call("pay", 1), ask("aide")}), Tools: []pawl.Tool{set, pay, tool.Agent(aide, nil)}}
	for range 2 {
		j := memory.New()
		r := talks(t, engine.New(j, nil), agent, "go", "talk")
		if r.Status != pawl.StatusSuccess || r.Run != engine.ThreadRun("talk", "") {
			t.Fatal(r.Run, r.Status)
		}
		replays(t, engine.New(j, nil), agent, r.Run)
	}
	slices.Sort(keys)
	if len(slices.Compact(keys)) != 6 {
		t.Errorf("keys %q", keys)
	}
}

// A redacted run is not continued, nor one whose log goes round in a circle.
func TestThreadRefused(t *testing.T) {
	j, here := memory.New(), memory.New()
	agent, _ := chatter()
	r := talks(t, engine.New(j, nil), agent, "one", "talk")
	var out bytes.Buffer
	must(t, archive.Export(t.Context(), j, r.Run, &out, nil))
	_, err := archive.Import(t.Context(), here, &out)
	must(t, err)
	if _, err := engine.New(here, nil).Start(t.Context(), agent, "two", &engine.StartOptions{Thread: "talk"}); !errors.Is(err, engine.ErrRedacted) {
		t.Errorf("continued a redacted run: %v", err)
	}
	if _, err := engine.New(j, nil).Start(t.Context(), agent, "two", &engine.StartOptions{ID: "mine", Thread: "talk"}); err == nil || !strings.Contains(err.Error(), "leave the id out") {
		t.Errorf("with an id of one's own: %v", err)
	}
	start, err := pawl.DecodeEntry([]byte(logOf(t, j, r.Run)[0]))
	must(t, err)
	begin := start.Event.(pawl.RunStarted)
	begin.Continues = &pawl.Continues{Run: r.Run, Seq: 1}
	start.Event = begin
	line, err := start.AppendJSON(nil)
	must(t, err)
	round := memory.New()
	lease, err := round.Claim(t.Context(), pawl.Claim{Run: r.Run, Owner: "x", TTL: 1, New: true})
	if err == nil {
		err = round.Append(t.Context(), pawl.Batch{Run: r.Run, Epoch: lease.Epoch, Records: [][]byte{line}})
	}
	must(t, err)
	if _, err := engine.New(round, nil).Resume(t.Context(), agent, r.Run, nil); err == nil || !strings.Contains(err.Error(), "continues itself") {
		t.Errorf("round in a circle: %v", err)
	}
}
