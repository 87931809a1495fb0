package engine_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/engine/archive"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/journal/sqlite"
)

// wordy is a tool that says more than the log keeps, and a password.
var wordy = job{pawl.ToolInfo{Name: "wordy", Effect: pawl.Write, MaxOutput: 100}, func(context.Context, pawl.Invocation) (string, error) {
	return "password=hunter2 " + strings.Repeat("much ", 300), nil
}}

// exported is a run that ended without success, and its export.
func exported(t testing.TB, raw bool) ([]byte, pawl.Journal) {
	t.Helper()
	j := memory.New()
	agent := pawl.Agent{Name: "clerk", Model: turns([]pawl.Call{call("wordy", 1)}, []pawl.Call{call("wordy", 2)}), Tools: []pawl.Tool{wordy}}
	agent.Limits.Iterations = 1
	h, err := engine.New(j, nil).Start(context.Background(), agent, "go", &engine.StartOptions{ID: "r"})
	must(t, err)
	if res, err := h.Wait(context.Background()); err != nil || res.Status != pawl.StatusExhausted {
		t.Fatal(res.Status, err)
	}
	var out bytes.Buffer
	must(t, archive.Export(context.Background(), j, "r", &out, &archive.Options{Raw: raw}))
	return out.Bytes(), j
}

// logOf is the lines of a run's log; none if there is no such run.
func logOf(t testing.TB, j pawl.Journal, run string) (lines []string) {
	t.Helper()
	for r, err := range j.Read(context.Background(), run, 1) {
		if err != nil && !errors.Is(err, pawl.ErrUnknownRun) {
			t.Fatal(err)
		}
		if err == nil {
			lines = append(lines, string(r.Data))
		}
	}
	return lines
}

func imports(t testing.TB, file []byte) (pawl.Journal, archive.Imported, error) {
	t.Helper()
	j := memory.New()
	got, err := archive.Import(context.Background(), j, bytes.NewReader(file))
	return j, got, err
}

// TestImport: what a raw export brings is the log, its blobs and its head, byte
// for byte, owned by nobody and there once only.
func TestImport(t *testing.T) {
	file, from := exported(t, true)
	to, got, err := imports(t, file)
	must(t, err)
	was, is := logOf(t, from, "r"), logOf(t, to, "r")
	want := archive.Imported{Run: "r", Entries: uint64(len(was)), Of: uint64(len(was)), Blobs: 1}
	if got != want {
		t.Errorf("the import is %+v, not %+v", got, want)
	}
	if len(is) != len(was)+1 || strings.Join(is[:len(was)], "\n") != strings.Join(was, "\n") {
		t.Errorf("the log is another:\n%s", strings.Join(is, "\n"))
	}
	for h, err := range to.List(t.Context(), pawl.Query{}) {
		if err != nil || h.Status != pawl.StatusExhausted || h.Lease.Owner != "" || !h.Lease.Until.IsZero() || h.Seq != uint64(len(is)) {
			t.Errorf("the head is %+v, %v", h, err)
		}
	}
	var before time.Time
	for e := range entriesOf(t, to, "r") {
		if e.Seq == uint64(len(is)) && !e.Time.Equal(before) { // or the way here would count as the run's time
			t.Errorf("the import is written down at %v, %v behind the last entry", e.Time, e.Time.Sub(before))
		}
		before = e.Time
		if f, ok := e.Event.(pawl.ToolFinished); ok {
			if data, err := to.(pawl.Blobs).Blob(t.Context(), f.Blob); err != nil || len(data) < 1500 {
				t.Errorf("of the blob there are %d bytes, %v", len(data), err)
			}
		}
	}
	if _, err := archive.Import(t.Context(), to, bytes.NewReader(file)); !errors.Is(err, pawl.ErrRunExists) {
		t.Errorf("importing it again: %v", err)
	}
	// What was imported is exported as it is, mark and all.
	var again bytes.Buffer
	must(t, archive.Export(t.Context(), to, "r", &again, &archive.Options{Raw: true}))
	if third, _, err := imports(t, again.Bytes()); err != nil || strings.Join(logOf(t, third, "r")[:len(is)], "\n") != strings.Join(is, "\n") {
		t.Errorf("the export of an import: %v", err)
	}
}

// An import that takes longer than a lease lasts keeps its run.
func TestSlowImport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file, _ := exported(t, true)
		j := newTap()
		j.on(func(b pawl.Batch, write func() error) error {
			time.Sleep(time.Minute)
			_, _ = j.Journal.Claim(t.Context(), pawl.Claim{Run: b.Run, Owner: "sweep", TTL: time.Minute})
			return write()
		})
		_, err := archive.Import(t.Context(), j, bytes.NewReader(file))
		must(t, err)
	})
}

// TestImportGoesOn: an imported run waits for the signals that come to it here,
// though those it had before bear greater numbers, and can be cancelled here,
// though its epochs were greater. Replaying it finds nothing to object to.
func TestImportGoesOn(t *testing.T) {
	open := func() *sqlite.Journal {
		j, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "j.db"), &sqlite.Options{Normal: true})
		must(t, err)
		t.Cleanup(func() { _ = j.Close() })
		return j
	}
	from := open()
	there := engine.New(from, nil)
	agent := pawl.Agent{Name: "clerk", Model: turns([]pawl.Call{call("client", 1)}, []pawl.Call{call("client", 2)}), Tools: []pawl.Tool{fake{name: "client", client: true}}}
	ends(t, begin(t, there, agent), pawl.StatusWaitingClientTool)
	// Letters of others, so that the numbers here begin below.
	other, err := there.Start(t.Context(), agent, "go", &engine.StartOptions{ID: "other"})
	must(t, err)
	ends(t, other, pawl.StatusWaitingClientTool)
	for i := range 20 {
		l := pawl.Signal{Run: "other", Kind: pawl.SignalResult, Request: fmt.Sprint("x", i), Body: json.RawMessage(`1`), Time: time.Now()}
		_, err = from.Send(t.Context(), l)
		must(t, err)
	}
	must(t, there.Submit(t.Context(), "r", "c_1", "x", json.RawMessage(`1`)))
	ends(t, resume(t, there, agent), pawl.StatusWaitingClientTool)
	for range 5 {
		ends(t, resume(t, there, agent), pawl.StatusWaitingClientTool)
	}
	var file bytes.Buffer
	must(t, archive.Export(t.Context(), from, "r", &file, &archive.Options{Raw: true}))
	to := open()
	_, err = archive.Import(t.Context(), to, &file)
	must(t, err)
	here := engine.New(to, nil)
	before, err := engine.Load(t.Context(), to, "r")
	if err != nil || before.Internals().Signal() != 0 || before.Status() != pawl.StatusWaitingClientTool {
		t.Fatal(before.Internals().Signal(), before.Status(), err)
	}
	must(t, here.Submit(t.Context(), "r", "c_2", "x", json.RawMessage(`2`)))
	ends(t, resume(t, here, agent), pawl.StatusSuccess)
	s, err := engine.Load(t.Context(), to, "r")
	if err != nil || s.Internals().Signal() != 2 { // the first is the import's own; see package webhook
		t.Errorf("the last letter read is %d, not 2: %v", s.Internals().Signal(), err)
	}
	replays(t, here, agent, "r")
}

// TestImportRedacted: a redacted export says so, has no secret and no blob, and
// what it becomes can be read and not gone on with in any way.
func TestImportRedacted(t *testing.T) {
	file, from := exported(t, false)
	if bytes.Contains(file, []byte("hunter2")) || bytes.Contains(file, []byte(`{"blob"`)) || !bytes.Contains(file, []byte(`"redacted":true`)) {
		t.Fatalf("the export is %s", file)
	}
	to, got, err := imports(t, file)
	if err != nil || !got.Redacted || got.Torn || got.Entries != uint64(len(logOf(t, from, "r"))) {
		t.Fatal(got, err)
	}
	s, err := engine.Load(t.Context(), to, "r")
	if err != nil || s.Status() != pawl.StatusExhausted {
		t.Fatal(s.Status(), err)
	}
	e := engine.New(to, nil)
	agent := pawl.Agent{Name: "clerk", Model: turns(), Tools: []pawl.Tool{wordy}}
	is := logOf(t, to, "r")
	_, resumed := e.Resume(t.Context(), agent, "r", &engine.ResumeOptions{AllowChange: true})
	_, forked := e.Fork(t.Context(), agent, "r", 1, &engine.ForkOptions{AllowChange: true})
	answered := e.Answer(t.Context(), "r", "c_1", "x", "yes")
	for what, err := range map[string]error{"resume": resumed, "fork": forked, "answer": answered} {
		if !errors.Is(err, engine.ErrRedacted) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if now := logOf(t, to, "r"); len(now) != len(is) {
		t.Errorf("the log has %d entries more", len(now)-len(is))
	}
}

// sparse is how many bytes a test of every byte goes at once: one, more in a short test.
func sparse() int {
	if testing.Short() {
		return 7
	}
	return 1
}

// TestImportTorn cuts a file at every byte: what is imported are the lines that
// are whole, and the run goes on only if it lacks nothing.
func TestImportTorn(t *testing.T) {
	agent := pawl.Agent{Name: "clerk", Model: turns([]pawl.Call{call("wordy", 1)}, []pawl.Call{call("wordy", 2)}), Tools: []pawl.Tool{wordy}}
	agent.Limits.Iterations = 1
	file, from := exported(t, true)
	was := logOf(t, from, "r")
	blob := bytes.Index(file, []byte(`{"blob":`))
	for n := 0; n <= len(file); n += sparse() {
		lines := bytes.Count(file[:n], []byte("\n"))
		if n < len(file) && file[n] == '\n' {
			lines++ // only the break is missing
		}
		whole := uint64(min(max(lines-1, 0), len(was)))
		to, got, err := imports(t, file[:n])
		if whole == 0 {
			if damaged := new(archive.DamagedError); !errors.As(err, &damaged) || len(logOf(t, to, "r")) != 0 {
				t.Fatalf("cut at %d: %v", n, err)
			}
			continue
		}
		if err != nil || got.Entries != whole || got.Torn != (n < len(file)-1) || got.Of != uint64(len(was)) {
			t.Fatalf("cut at %d of %d: %+v, %v; %d entries are whole", n, len(file), got, err, whole)
		}
		is := logOf(t, to, "r")
		if strings.Join(is[:whole], "\n") != strings.Join(was[:whole], "\n") || uint64(len(is)) != whole+1 {
			t.Fatalf("cut at %d: the log is no prefix", n)
		}
		if n%(97*sparse()) != 0 && n < blob {
			continue
		}
		e := engine.New(to, nil)
		h, err := e.Resume(t.Context(), agent, "r", nil)
		if lacks := whole < uint64(len(was)); lacks != (err != nil) || lacks && !strings.Contains(err.Error(), "fork it") {
			t.Fatalf("cut at %d: resuming: %v", n, err)
		}
		if h != nil {
			_, _ = h.Wait(t.Context())
		}
	}
	// A person may go on from where it is known.
	to, got, err := imports(t, file[:bytes.Index(file, []byte(`"type":"tool.started"`))])
	must(t, err)
	for _, at := range []uint64{got.Entries, got.Entries + 1} {
		e := engine.New(to, nil)
		h, err := e.Fork(t.Context(), agent, "r", at, nil)
		must(t, err)
		res := ends(t, h, pawl.StatusExhausted)
		if h, err = e.Resume(t.Context(), agent, res.Run, nil); err != nil {
			t.Errorf("resuming the fork at %d: %v", at, err)
			continue
		}
		ends(t, h, pawl.StatusExhausted)
	}
}

// sealed makes a file of lines, with digests that are right.
func sealed(lines ...string) []byte {
	var out []byte
	var before [sha256.Size]byte
	for _, line := range lines {
		sum := sha256.Sum256([]byte(line))
		next := sha256.Sum256(append(before[:], sum[:]...))
		switch {
		case strings.HasPrefix(line, `{"export":`):
			before = sha256.Sum256([]byte("r"))
		case !strings.HasPrefix(line, `{"blob":`) && !strings.HasPrefix(line, `{"end":`):
			before = next
		}
		out = fmt.Appendf(out, "%s,\"digest\":%q}\n", line[:len(line)-1], hex.EncodeToString(next[:]))
	}
	return out
}

// unsealed takes the digests off.
func unsealed(file []byte) (lines []string) {
	for line := range strings.Lines(string(file)) {
		at := strings.LastIndex(line, `,"digest":`)
		lines = append(lines, line[:at]+"}")
	}
	return lines
}

// TestImportDamaged changes whole lines, once as an accident would and once with
// recomputed digests, so that the other rules are tested too.
func TestImportDamaged(t *testing.T) {
	file, _ := exported(t, true)
	whole := unsealed(file)
	if !bytes.Equal(sealed(whole...), file) {
		t.Fatal("the test does not know how digests are made")
	}
	last := len(whole) - 1
	edit := func(n int, old, with string) func([]string) []string {
		return func(l []string) []string {
			if !strings.Contains(l[n], old) {
				t.Errorf("line %d does not have %s: %s", n+1, old, l[n])
			}
			l[n] = strings.Replace(l[n], old, with, 1)
			return l
		}
	}
	splice := func(at, del int, with ...string) func([]string) []string {
		return func(l []string) []string {
			return append(append(append([]string{}, l[:at]...), with...), l[at+del:]...)
		}
	}
	for name, c := range map[string]struct {
		do   func([]string) []string
		says string // when the digests are right
	}{
		"a gap":            {splice(3, 1), "entry 4 follows entry 2"},
		"twice":            {splice(3, 0, whole[2]), "entry 2 follows entry 2"},
		"swapped":          {func(l []string) []string { l[2], l[3] = l[3], l[2]; return l }, "entry 3 follows entry 1"},
		"another run's":    {edit(3, `"run":"r"`, `"run":"q"`), "it belongs to run q"},
		"an unknown type":  {edit(3, `"type":"`, `"type":"x`), "is unknown to this build"},
		"a wrong seq":      {edit(3, `"seq":3`, `"seq":4`), "entry 4 follows entry 2"},
		"an at too late":   {edit(3, `"at":1`, `"at":3`), "comes after it"},
		"no first entry":   {splice(1, 1), "entry 2 follows entry 0"},
		"no head":          {splice(0, 1), "it is not a line of an export"},
		"another format":   {edit(0, `"export":1`, `"export":2`), "its format is 2"},
		"another machine":  {edit(1, fmt.Sprintf(`"machine":%d`, pawl.MachineNumber), `"machine":999`), "under machine number 999"},
		"too many":         {edit(0, `"entries":`, `"entries":1`), "or is in the wrong place"},
		"fewer":            {edit(last, `"end":`, `"end":1`), "comes after"},
		"behind the end":   {splice(last+1, 0, whole[last]), "comes after the end"},
		"an empty line":    {splice(3, 0, "{}"), "entry"},
		"a text":           {splice(3, 0, `{"what":"is this"}`), "entry"},
		"another blob":     {edit(last-1, `"data":"`, `"data":"AAAA`), "does not have that digest"},
		"a blob too early": {splice(3, 0, whole[last-1]), "or is in the wrong place"},
		"a redacted blob":  {edit(0, `"redacted":false`, `"redacted":true`), "or is in the wrong place"},
		"a nameless run":   {edit(0, `"run":"r"`, `"run":""`), "names no run"},
		"a live entry":     {edit(3, `"seq":3,`, ``), "entry 0 follows entry 2"},
	} {
		t.Run(name, func(t *testing.T) {
			changed := c.do(append([]string{}, whole...))
			j, got, err := imports(t, sealed(changed...))
			if damaged := new(archive.DamagedError); !errors.As(err, &damaged) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("with recomputed digests: %+v, %v", got, err)
			}
			if len(logOf(t, j, "r")) > 0 {
				t.Error("something was imported")
			}
			// The lines with the digests they had.
			sums := map[string]string{}
			for i, line := range strings.Split(strings.TrimSpace(string(file)), "\n") {
				sums[whole[i]] = line
			}
			var out strings.Builder
			for _, line := range changed {
				if sums[line] != "" {
					line = sums[line]
				}
				out.WriteString(line + "\n")
			}
			if _, got, err := imports(t, []byte(out.String())); err == nil {
				t.Errorf("with the old digests: %+v", got)
			}
		})
	}
}
