//go:build linux || darwin

package proof_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/sqlite"
)

// A point is a moment of a process: before or after something it does.
type point struct {
	name string
	when string // before or after
}

func (p point) String() string { return p.when + " " + p.name }

// A gate is what a process passes at each of its points. At the one it was told
// of, it says that it is there, and nothing moves any more until it is killed:
// who comes to another point waits behind the gate.
type gate struct {
	mu    sync.Mutex
	out   *os.File // to the process that watches
	stop  point
	nth   int // how many times it is to pass before it stops, or in any point if it has no name
	tells bool
}

// newGate reads "WHEN NAME|N", or "#N" for the Nth point whatever it is.
func newGate(stop string, tells bool) *gate {
	g := &gate{out: os.NewFile(3, "gate"), tells: tells}
	if n, any := strings.CutPrefix(stop, "#"); any {
		g.nth, _ = strconv.Atoi(n)
		return g
	}
	where, n, _ := strings.Cut(stop, "|")
	g.stop.when, g.stop.name, _ = strings.Cut(where, " ")
	g.nth, _ = strconv.Atoi(n)
	return g
}

// pass does something between its two points.
func (g *gate) pass(name string, do func()) {
	g.reach(point{name, "before"})
	do()
	g.reach(point{name, "after"})
}

func (g *gate) reach(p point) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.tells {
		fmt.Fprintln(g.out, "pass", p)
	}
	if g.nth == 0 || g.stop.name != "" && g.stop != p {
		return
	}
	if g.nth--; g.nth > 0 {
		return
	}
	fmt.Fprintln(g.out, "stop", p)
	var word [1]byte // one that is not killed goes on when it is told to
	if _, err := os.Stdin.Read(word[:]); err != nil {
		os.Exit(3) // nobody is left to kill it
	}
}

// tap is the journal, each commit of it a pair of points named by what it holds.
type tap struct {
	*sqlite.Journal
	world *world

	mu   sync.Mutex
	late *pawl.Batch // sabotage: acknowledged, not written
}

func (w *world) tap(j *sqlite.Journal) pawl.Journal { return &tap{Journal: j, world: w} }

// of names what is done for the run or, if it is another, for its child.
func of(run, what string) string {
	if run != runID {
		return "child " + what
	}
	return what
}

// kinds lists the types of the entries in a batch, each once.
func kinds(b pawl.Batch) string {
	var names []string
	for _, r := range b.Records {
		e, err := pawl.DecodeEntry(r)
		if err != nil {
			panic(err)
		}
		if t := e.Type(); !slices.Contains(names, t) {
			names = append(names, t)
		}
	}
	return strings.Join(names, "+")
}

// Append commits each result of a group by itself: which of them come back
// together is chance, and the points at which to kill must be the same in every
// process. What holds with a commit between them holds without.
func (j *tap) Append(ctx context.Context, b pawl.Batch) (err error) {
	first := b
	for len(b.Records) > 1 && kinds(pawl.Batch{Records: b.Records[:2]}) == "tool.finished" {
		first.Records, b.Records = b.Records[:1], b.Records[1:]
		first.After, b.After = b.After, b.After+1
		first.Head.Seq = b.After
		if err := j.commit(ctx, first); err != nil {
			return err
		}
	}
	return j.commit(ctx, b)
}

func (j *tap) commit(ctx context.Context, b pawl.Batch) (err error) {
	j.world.gate.pass(of(b.Run, "append "+kinds(b)), func() { err = j.put(ctx, b) })
	return err
}

// put appends, unless sabotage has it acknowledge what it has not written yet.
func (j *tap) put(ctx context.Context, b pawl.Batch) error {
	if j.world.sabotage == "" {
		return j.Journal.Append(ctx, b)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.late != nil {
		was := *j.late
		j.late = nil
		if err := j.Journal.Append(ctx, was); err != nil {
			return err
		}
	}
	if what := j.world.sabotage; strings.HasPrefix(what, "late ") && strings.Contains(kinds(b), what[len("late "):]) {
		b.Records = slices.Clone(b.Records)
		for i := range b.Records {
			b.Records[i] = slices.Clone(b.Records[i])
		}
		j.late = &b
		return nil
	}
	return j.Journal.Append(ctx, b)
}

func (j *tap) Claim(ctx context.Context, c pawl.Claim) (l pawl.Lease, err error) {
	claim := func() { l, err = j.Journal.Claim(ctx, c) }
	switch {
	case c.Epoch != 0 && c.TTL > 0: // a heartbeat comes when it comes, and commits nothing that is told
		claim()
	case c.Epoch != 0:
		j.world.gate.pass(of(c.Run, "release"), claim)
	case c.Over != 0:
		j.world.gate.pass(of(c.Run, "claim over"), claim)
	case c.New:
		j.world.gate.pass(of(c.Run, "claim new"), claim)
	default:
		j.world.gate.pass(of(c.Run, "claim"), claim)
	}
	return l, err
}

func (j *tap) Send(ctx context.Context, l pawl.Signal) (posted pawl.Signal, err error) {
	j.world.gate.pass(of(l.Run, "post "+l.Kind.String()), func() { posted, err = j.Journal.Send(ctx, l) })
	return posted, err
}
