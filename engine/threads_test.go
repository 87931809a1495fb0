package engine_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
)

// looked is a journal that counts how often a log is read.
type looked struct {
	*memory.Journal
	reads int
}

func (j *looked) Read(ctx context.Context, run string, from uint64) iter.Seq2[pawl.Row, error] {
	j.reads++
	return j.Journal.Read(ctx, run, from)
}

// An engine that remembers a thread sends what one sends that reads it, and
// reads no log of an earlier run twice.
func TestThreadRemembered(t *testing.T) {
	type sent struct {
		Messages  []pawl.Message
		Continues *pawl.Continues
	}
	// Every run looks twice, and ends in another way.
	look := seeing("look")
	pay := job{pawl.ToolInfo{Name: "pay", Effect: pawl.Write}, func(context.Context, pawl.Invocation) (string, error) {
		return "paid", nil
	}}
	talk := func(remembers bool) (requests []sent, reads []int) {
		j := &looked{Journal: memory.New()}
		e := engine.New(j, nil)
		for i := range 12 {
			turn := 0
			agent := pawl.Agent{Name: "chatter", Tools: []pawl.Tool{look, pay}, Limits: pawl.Limits{Iterations: 3}}
			if i == 7 {
				agent.Strategy = pawl.StrategyJSON
			}
			agent.Model = pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
				requests = append(requests, sent{Messages: r.Messages})
				turn++
				switch {
				case turn < 3 && i%4 != 3:
					return pawl.Do(call("look", turn), call("pay", turn)), nil
				case i%4 == 2:
					return pawl.Reply{}, &pawl.ModelError{Class: pawl.ClassAuth, Message: "no key"}
				case i%4 == 1:
					return pawl.Do(call("look", turn)), nil // up to its limit, and then an answer
				}
				return pawl.Say(fmt.Sprint("answer ", i)), nil
			})
			if !remembers {
				e = engine.New(j, nil)
			}
			was := j.reads
			h, err := e.Start(t.Context(), agent, fmt.Sprint("question ", i), &engine.StartOptions{Thread: "talk"})
			must(t, err)
			reads = append(reads, j.reads-was)
			r, err := h.Wait(t.Context())
			must(t, err)
			for entry, err := range engine.Entries(t.Context(), j, r.Run, 1) {
				if start, ok := entry.Event.(pawl.RunStarted); ok && err == nil {
					requests = append(requests, sent{Continues: start.Continues})
				}
			}
		}
		return requests, reads
	}
	got, few := talk(true)
	want, many := talk(false)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if few[11] > 4 || many[11] < 24 {
		t.Errorf("reads of logs at the start of each run: %v, and %v when nothing is remembered", few, many)
	}
}

// A thread can branch off a run of another: it begins with that run's messages, goes
// on by itself, and the other thread stays as it is.
func TestThreadBranches(t *testing.T) {
	var seen []string
	agent := pawl.Agent{Name: "chatter", Model: pawl.ModelFunc(func(_ context.Context, r pawl.Request) (pawl.Reply, error) {
		texts := make([]string, len(r.Messages))
		for i, m := range r.Messages {
			texts[i] = m.Text()
		}
		seen = append(seen, strings.Join(texts, " "))
		return pawl.Say("ok"), nil
	})}
	e := engine.New(memory.New(), nil)
	say := func(text string, o engine.StartOptions) string {
		h, err := e.Start(t.Context(), agent, text, &o)
		must(t, err)
		ended(t, h)
		return h.ID()
	}
	first := say("one", engine.StartOptions{Thread: "a"})
	say("two", engine.StartOptions{Thread: "a"})
	say("deux", engine.StartOptions{Thread: "b", After: first})
	say("trois", engine.StartOptions{Thread: "b", After: first})
	say("three", engine.StartOptions{Thread: "a"})
	want := []string{"one", "one ok two", "one ok deux", "one ok deux ok trois", "one ok two ok three"}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := e.Start(t.Context(), agent, "x", &engine.StartOptions{Thread: "c", After: "nowhere"}); !errors.As(err, new(*engine.MissingError)) {
		t.Errorf("after a run that is not there: %v", err)
	}
}
