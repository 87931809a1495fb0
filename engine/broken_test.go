package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
)

// broken names the promise that the journals and tools of this process break.
var broken = os.Getenv("PAWL_TEST_BROKEN")

// breaks names, for each promise that can be broken from outside, a test that fails.
var breaks = []struct{ promise, test string }{
	{"intents are durable before effects", "TestIntentFirst"},
	{"intents are durable before effects", "TestAppendFails"},
	{"a lost request keeps its reservation", "TestLostCallsAreBooked"},
	{"a lost Write is not run again", "TestWriteOnce"},
	{"a further attempt has the same key", "TestKeyStays"},
	{"equal calls are answered from the log", "TestReuse"},
	{"an approval is for one call", "TestDecisionIsForOneCall"},
	{"a signal is for one request", "TestStaleDecision"},
	{"preconditions are read again", "TestWitnessAgain"},
	{"an owner renews its lease", "TestHeartbeat"},
	{"a live owner keeps its run", "TestResumeRace"},
}

// TestBrokenPromises checks that the tests which hold the engine's promises can
// fail. It runs each in a process whose journals or tools break the promise.
func TestBrokenPromises(t *testing.T) {
	if broken != "" {
		t.Skip("this process is itself broken")
	}
	for _, b := range breaks {
		t.Run(b.promise+"/"+b.test, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			c := exec.CommandContext(ctx, os.Args[0], "-test.short", "-test.timeout=50s", "-test.run=^"+b.test+"$")
			c.Env = append(os.Environ(), "PAWL_TEST_BROKEN="+b.promise)
			out, err := c.CombinedOutput()
			if exit := new(exec.ExitError); !errors.As(err, &exit) || !strings.Contains(string(out), "--- FAIL: "+b.test) {
				t.Errorf("the test does not fail: %v\n%s", err, out)
			}
		})
	}
}

// reserved is what a request reserves, in an entry of the log.
var reserved = regexp.MustCompile(`"(reserved|max)_tokens":\d+`)

// commit writes a batch, unless this journal is broken.
func (j *tap) commit(ctx context.Context, b pawl.Batch) error {
	switch broken {
	case "intents are durable before effects": // a batch reaches the log with the next one
		j.mu.Lock()
		defer j.mu.Unlock()
		if was := j.late; was != nil {
			j.late = nil
			if err := j.Journal.Append(ctx, *was); err != nil {
				return err
			}
		}
		if has(b, "tool.started") || has(b, "model.called") {
			j.late = &pawl.Batch{Run: b.Run, Epoch: b.Epoch, After: b.After, Head: b.Head}
			for _, r := range b.Records {
				j.late.Records = append(j.late.Records, bytes.Clone(r))
			}
			return nil
		}
	case "a lost request keeps its reservation":
		for i, r := range b.Records {
			b.Records[i] = reserved.ReplaceAll(r, []byte(`"${1}_tokens":0`))
		}
	}
	return j.Journal.Append(ctx, b)
}

func (j *tap) take(ctx context.Context, c pawl.Claim) (pawl.Lease, error) {
	switch {
	case broken == "an owner renews its lease" && c.Epoch != 0 && c.TTL > 0:
		return pawl.Lease{Run: c.Run, Owner: c.Owner, Epoch: c.Epoch, Until: time.Now().Add(c.TTL)}, nil
	case broken == "a live owner keeps its run" && c.Epoch == 0 && !c.New:
		for h := range j.List(ctx, pawl.Query{Run: c.Run}) {
			c.Over = h.Lease.Epoch
		}
	}
	return j.Journal.Claim(ctx, c)
}

// Send delivers a signal, unless this journal is broken.
func (j *tap) Send(ctx context.Context, l pawl.Signal) (pawl.Signal, error) {
	switch broken {
	case "an approval is for one call":
		l.Body = bytes.Replace(l.Body, []byte(`"approve":true`), []byte(`"approve":true,"scope":"run"`), 1)
	case "a signal is for one request":
		for e, err := range engine.Entries(ctx, j, l.Run, 1) {
			if err != nil {
				return pawl.Signal{}, err
			}
			if _, ok := e.Event.(pawl.ApprovalRequested); ok {
				l.Request = fmt.Sprint("c_1.", e.Seq)
			}
		}
	}
	return j.Journal.Send(ctx, l)
}
