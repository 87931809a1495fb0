//go:build linux || darwin

package proof_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/sqlite"
)

// history is what was on record when somebody last looked, and may not change.
type history struct {
	rows map[string][][]byte // of each run
	done map[string]int      // attempts at each call that is answered, requests of each turn that is
}

// runs are the runs there are, the first one first.
func (c *cell) runs(j *sqlite.Journal) (ids []string) {
	for h, err := range j.List(context.Background(), pawl.Query{}) {
		if err != nil {
			c.fault("list: %v", err)
			return nil
		}
		if h.Seq > 0 {
			ids = append(ids, h.Run)
		}
	}
	slices.Sort(ids)
	return ids
}

// audit looks at what the last process left: the log must go on from what it
// was, be one that can be folded, and whatever was on record as done must not
// have been done again.
func (c *cell) audit() {
	j, err := open(c.dir)
	if err != nil {
		c.fault("open: %v", err)
		return
	}
	defer func() { _ = j.Close() }()
	if c.seen.rows == nil {
		c.seen = history{map[string][][]byte{}, map[string]int{}}
	}
	for _, run := range c.runs(j) {
		var rows [][]byte
		for row, err := range j.Read(context.Background(), run, 1) {
			if err != nil {
				c.fault("read %s: %v", run, err)
				return
			}
			rows = append(rows, row.Data)
		}
		was := c.seen.rows[run]
		if len(rows) < len(was) || !slices.EqualFunc(was, rows[:len(was)], bytes.Equal) {
			c.fault("prefix: the log of %s, of %d entries, does not go on from the %d there were", run, len(rows), len(was))
		}
		c.seen.rows[run] = rows
		s, err := engine.Load(context.Background(), j, run)
		if err != nil {
			c.fault("the log of %s: %v", run, err)
			return
		}
		c.settled(run, s)
	}
}

// settled notes how often what is on record as done was done, and finds what
// was done again since.
func (c *cell) settled(run string, s *pawl.State) {
	still := func(what string, now int) {
		if was, ok := c.seen.done[what]; ok && was != now {
			c.fault("repeated: %s was on record, and was made %d times then, %d now", what, was, now)
		}
		c.seen.done[what] = now
	}
	for call := range s.Calls() {
		if call.Phase == pawl.PhaseAnswered {
			still(run+" "+call.ID, c.count("attempts", attemptCall, run, call.ID))
		}
	}
	for k := range s.Turns() {
		n := fmt.Sprint(k.Iteration - 1) // none of this model's replies is rejected
		still(run+" turn "+n, c.count("bill", billTurn, run, n))
	}
}

// count counts lines about a run that have a value in a field.
func (c *cell) count(file string, field int, run, value string) (n int) {
	for _, l := range c.notes(file) {
		if l[0] == run && l[field] == value {
			n++
		}
	}
	return n
}

// A witness is what a finished run leaves: two that did the same are equal.
type witness struct {
	Result  string              // but for what a lost attempt may differ in
	Effects []string            // of Idempotents and Writes, without order
	Writes  []string            // in order, run by run: a child goes on beside what its parent waits for
	Reads   []string            // each once
	Shown   map[string][]string // what the model was shown, by run and turn
	Replied map[string]int      // replies on record, by run
	Given   []string            // decisions and answers on record

	passed  [][]string
	failed  int
	settled map[string]spent // by run
}

// spent is what model calls have cost.
type spent struct {
	usage pawl.Usage
	cost  float64
}

func (s *spent) add(u pawl.Usage, dollars float64) {
	s.usage, s.cost = s.usage.Add(u), s.cost+dollars
}

func (s *spent) equal(t spent) bool { return s.usage == t.usage && math.Abs(s.cost-t.cost) < 1e-9 }

// witness examines the finished run.
func (c *cell) witness(res pawl.Result) *witness {
	res.Usage, res.CostUSD, res.ElapsedMS = pawl.Result{}.Usage, nil, 0
	result, err := json.MarshalIndent(res, "", " ")
	if err != nil {
		c.fault("%v", err)
	}
	w := &witness{Result: string(result), Shown: map[string][]string{}, Replied: map[string]int{}}
	for _, l := range c.notes("ledger") {
		line := strings.Join(l, " ")
		switch l[ledgerTool] {
		case "look":
			w.Reads = append(w.Reads, line)
			continue
		case "put":
		default:
			w.Writes = append(w.Writes, line)
		}
		w.Effects = append(w.Effects, line)
	}
	slices.Sort(w.Effects)
	slices.Sort(w.Reads)
	slices.SortStableFunc(w.Writes, func(a, b string) int {
		return strings.Compare(a[:strings.IndexByte(a, ' ')], b[:strings.IndexByte(b, ' ')])
	})
	w.Reads = slices.Compact(w.Reads)
	for _, l := range c.notes("bill") {
		turn := l[billRun] + " " + l[billTurn]
		if !slices.Contains(w.Shown[turn], l[billShown]) {
			w.Shown[turn] = append(w.Shown[turn], l[billShown])
		}
	}
	j, err := open(c.dir)
	if err != nil {
		c.fault("open: %v", err)
		return w
	}
	defer func() { _ = j.Close() }()
	w.settled = map[string]spent{}
	for _, run := range slices.Backward(c.runs(j)) { // children before their parent
		if lost := c.account(j, run, w); lost > c.killed {
			c.fault("%d model calls of %s were lost to %d kills", lost, run, c.killed)
		}
	}
	if n, err := newEngine(j).Replay(context.Background(), c.agent(), runID); err != nil || n == 0 {
		c.fault("replay: %d steps, %v", n, err)
	}
	return w
}

// account reads a log as a book-keeper does: what was spent is what the replies
// cost and what the lost calls had reserved; every intent that a kill cut off
// from its end was surfaced; every decision was used once. It returns the
// number of model calls that were lost.
func (c *cell) account(j *sqlite.Journal, run string, w *witness) (lost int) {
	var calling *pawl.ModelCalled
	var retryAt time.Time
	var epoch uint64
	var own spent
	children := map[string]spent{}
	running, dangling := map[string]pawl.Effect{}, map[string]bool{}
	called, answered := map[int]int{}, map[int]int{}
	turn := 0
	for e, err := range engine.Entries(context.Background(), j, run, 1) {
		if err != nil {
			c.fault("%v", err)
			return lost
		}
		switch ev := e.Event.(type) {
		case pawl.RunStarted:
			epoch = ev.Epoch
		case pawl.RunResumed:
			if ev.Epoch <= epoch {
				c.fault("entry %d: epoch %d follows epoch %d", e.Seq, ev.Epoch, epoch)
			}
			epoch = ev.Epoch
			if calling != nil {
				lost++
				own.add(pawl.Usage{Input: calling.Reserved - calling.MaxTokens, Output: calling.MaxTokens}, calling.Cost)
				calling = nil
			}
			for call, effect := range running {
				dangling[call] = effect == pawl.Write
			}
			clear(running)
		case pawl.ModelCalled:
			if calling != nil {
				c.fault("entry %d: a model is called while it is being called", e.Seq)
			}
			if e.Time.Before(retryAt) {
				c.fault("entry %d: a retry at %v that was due at %v", e.Seq, e.Time, retryAt)
			}
			calling, retryAt = &ev, time.Time{}
			called[turn]++
		case pawl.ModelFailed:
			own.add(ev.Usage, ev.Cost)
			retryAt, calling = ev.RetryAt, nil
			answered[turn]++
			w.failed++
		case pawl.ModelReplied:
			own.add(ev.Reply.Usage, ev.Cost)
			calling = nil
			answered[turn]++
			w.Replied[run]++
			turn++
		case pawl.ToolStarted:
			if dangling[ev.Call] {
				c.fault("entry %d: %s, a Write that was cut off, runs again and nobody was asked", e.Seq, ev.Call)
			}
			running[ev.Call] = ev.Effect
		case pawl.ToolFinished:
			if dangling[ev.Call] {
				c.fault("entry %d: %s, a Write that was cut off, has a result that nobody vouches for", e.Seq, ev.Call)
			}
			delete(running, ev.Call)
		case pawl.InputRequested:
			delete(running, ev.Call)
		case pawl.ChildStarted: // which is taken up, and whose own log says what is in doubt
			delete(running, ev.Call)
		case pawl.ChildStopped:
			children[ev.Child] = spent{ev.Usage, ev.Cost} // all told
		case pawl.ToolSettled:
			delete(dangling, ev.Call)
		case pawl.ApprovalDecided:
			w.Given = append(w.Given, fmt.Sprint(run, " ", ev.Call, " ", ev.By, " ", ev.Approved))
		case pawl.InputGiven:
			w.Given = append(w.Given, fmt.Sprint(run, " ", ev.Call, " ", ev.By, " ", ev.Text))
		}
	}
	slices.Sort(w.Given)
	for k := range turn {
		if n := c.count("bill", billTurn, run, fmt.Sprint(k)); n < answered[k] || n > called[k] {
			c.fault("turn %d of %s: %d requests on the bill, %d intents and %d answers on record", k, run, n, called[k], answered[k])
		}
	}
	s, err := engine.Load(context.Background(), j, run)
	if err != nil {
		c.fault("%v", err)
		return lost
	}
	for child, cost := range children {
		if was := w.settled[child]; !was.equal(cost) {
			c.fault("%s has spent %+v, its parent has settled %+v", child, was, cost)
		}
		own.add(cost.usage, cost.cost)
	}
	dollars, _ := s.Cost()
	if got := (spent{s.Usage(), dollars}); !own.equal(got) {
		c.fault("%s has spent %+v, its log says %+v", run, got, own)
	}
	w.settled[run] = own
	keys := map[string]string{}
	for _, l := range c.notes("attempts") {
		if was, ok := keys[l[attemptRun]+l[attemptCall]]; ok && was != l[attemptKey] {
			c.fault("%s of %s ran under two keys", l[attemptCall], l[attemptRun])
		}
		keys[l[attemptRun]+l[attemptCall]] = l[attemptKey]
	}
	return lost
}

// compare holds a finished run against the one that nobody disturbed.
func (c *cell) compare(res pawl.Result) {
	if len(c.faults) > 0 {
		return
	}
	want, got := base(), c.witness(res)
	for _, turn := range slices.Sorted(maps.Keys(got.Shown)) {
		slices.Sort(got.Shown[turn])
	}
	want.sort()
	for _, d := range []struct {
		what      string
		want, got any
	}{
		{"result", want.Result, got.Result}, {"effects", want.Effects, got.Effects}, {"order of Writes", want.Writes, got.Writes},
		{"reads", want.Reads, got.Reads}, {"transcript", want.Shown, got.Shown}, {"replies", want.Replied, got.Replied},
		{"decisions", want.Given, got.Given},
	} {
		if diff := cmp.Diff(d.want, d.got); diff != "" {
			c.fault("%s (-undisturbed +killed):\n%s", d.what, diff)
		}
	}
	if got.failed > want.failed {
		c.fault("%d model calls failed, %d in the run that nobody disturbed", got.failed, want.failed)
	}
}

// sort makes what was shown comparable: its order may differ.
func (w *witness) sort() {
	for _, shown := range w.Shown {
		slices.Sort(shown)
	}
}
