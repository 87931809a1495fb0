package spool

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var (
	now  = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	pay  = Attempt{Run: "r", Call: "c_1", Key: "r/c_1", Number: 1}
	fate = Fate{
		Begin:   &Begin{Attempt: pay, Supervisor: "7.8.boot", Argv: "ab", At: now, Timeout: time.Minute},
		Process: "9.10.boot",
		Exit:    &Exit{Code: 3, Out: Said{Text: "out\n", Total: 4, Digest: "cd"}, Err: Said{Text: "é", Truncated: true, Total: 99}, Took: time.Second},
	}
)

// written is a directory with a whole record, and the record's bytes.
func written(t testing.TB) (Dir, []byte) {
	t.Helper()
	d := At(filepath.Join(t.TempDir(), "a", "spool"))
	must(t, d.Make(now))
	f, err := d.Begin(*fate.Begin)
	must(t, err)
	must(t, errors.Join(f.Running(fate.Process), f.Exited(fate.Exit), f.Close()))
	data, err := os.ReadFile(filepath.Join(d.path, pay.name()))
	must(t, err)
	return d, data
}

func TestRecord(t *testing.T) {
	d, _ := written(t)
	got, err := d.Read(pay)
	if diff := cmp.Diff(fate, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, err := d.Begin(*fate.Begin); !errors.Is(err, fs.ErrExist) {
		t.Errorf("an attempt is begun twice: %v", err)
	}
	if got, err := d.Fence(pay); err != nil || got.Never != nil || got.Exit == nil {
		t.Errorf("an attempt that was made never was: %+v, %v", got, err)
	}
	for path, want := range map[string]os.FileMode{d.path: 0o700, filepath.Join(d.path, pay.name()): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s is open to others: %v, %v", path, info.Mode(), err)
		}
	}
}

// What ends after somebody set out to end it counts as stopped; what had ended, does not.
func TestStop(t *testing.T) {
	d, _ := written(t)
	again := pay
	again.Number = 2
	f, err := d.Begin(Begin{Attempt: again})
	must(t, err)
	must(t, errors.Join(d.Stop(pay), d.Stop(again), f.Exited(&Exit{Signal: "SIGTERM"}), f.Close()))
	for a, want := range map[Attempt]Cut{pay: 0, again: Stopped} {
		if got, err := d.Read(a); err != nil || got.Exit.Cut != want {
			t.Errorf("%v: %+v, not %v", err, got.Exit, want)
		}
	}
}

// Fencing an attempt keeps it from starting, also if its file exists and is still
// empty.
func TestFence(t *testing.T) {
	d, _ := written(t)
	for number, prepare := range map[int]func(path string) error{
		2: func(string) error { return nil },
		3: func(path string) error { return os.WriteFile(path, nil, 0o600) },
	} {
		again := pay
		again.Number = number
		if _, err := d.Read(again); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("another attempt has a record: %v", err)
		}
		must(t, prepare(filepath.Join(d.path, again.name())))
		for range 2 {
			if got, err := d.Fence(again); err != nil || got.Never == nil {
				t.Fatalf("%+v, %v", got, err)
			}
		}
		b := *fate.Begin
		b.Attempt = again
		if _, err := d.Begin(b); !errors.Is(err, fs.ErrExist) {
			t.Errorf("it is begun all the same: %v", err)
		}
		if got, err := d.Read(again); err != nil || got.Never == nil || !got.About(again) || got.About(pay) {
			t.Errorf("%+v, %v", got, err)
		}
	}
}

// Of an attempt that is begun and fenced at the same time one happens, and both
// sides know which, however their writes meet.
func TestFenceBeside(t *testing.T) {
	d, _ := written(t)
	begun, fenced := 0, 0
	for n := range 300 {
		a := pay
		a.Number = 2 + n
		var first, second Fate
		var refused error
		var all sync.WaitGroup
		all.Go(func() {
			b := *fate.Begin
			b.Attempt = a
			f, err := d.Begin(b)
			if refused = err; err == nil {
				_ = f.Close()
			}
		})
		all.Go(func() { first, _ = d.Fence(a) })
		all.Go(func() { second, _ = d.Fence(a) })
		all.Wait()
		for _, got := range []Fate{first, second} {
			if (got.Never != nil) != (refused != nil) || (got.Begin != nil) != (refused == nil) {
				t.Fatalf("beginning it: %v; who fenced it reads %+v", refused, got)
			}
		}
		if refused == nil {
			begun++
		} else {
			fenced++
		}
	}
	t.Logf("%d begun, %d fenced", begun, fenced)
}

// Who is about to begin an attempt when its file is fenced before the first record
// finds that it may not.
func TestFenceFirst(t *testing.T) {
	d, _ := written(t)
	a := pay
	a.Number = 2
	path := filepath.Join(d.path, a.name())
	must(t, os.WriteFile(path, nil, 0o600))
	if _, err := d.Fence(a); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	b := *fate.Begin
	b.Attempt = a
	must(t, errors.Join(write(f, record{Begin: &b}), write(f, record{Process: "9.10.boot"}), write(f, record{Exit: &Exit{}}), f.Close()))
	if got, err := d.Read(a); err != nil || got.Begin != nil || got.Exit != nil || got.Process != "" || got.Never == nil {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestPromise(t *testing.T) {
	d, _ := written(t)
	other, _ := written(t)
	p, err := d.Promise("boot", now)
	must(t, err)
	read, ok := ParsePromise(p.String())
	if diff := cmp.Diff(p, read); !ok || diff != "" {
		t.Errorf("(-given +read):\n%s", diff)
	}
	for _, c := range []struct {
		dir  Dir
		boot string
		want bool
	}{{d, "boot", true}, {other, "boot", false}, {d, "another", false}, {d, "", false}, {At(d.path + "2"), "boot", false}} {
		if p.About(c.dir, c.boot) != c.want {
			t.Errorf("%s on %q: %v", c.dir.Path(), c.boot, !c.want)
		}
	}
	for _, text := range []string{"", "somebody", p.ID, p.ID + " today", p.ID + " " + now.Format(time.RFC3339Nano), "a b c", " " + now.Format(time.RFC3339Nano)} {
		if p, ok := ParsePromise(text); ok {
			t.Errorf("%q is read as %+v", text, p)
		}
	}
	if p.Expired(now.Add(startWithin)) || !p.Expired(now.Add(startWithin+1)) {
		t.Error("the time to start is another")
	}
	for after, want := range map[time.Duration]time.Duration{-time.Hour: 25 * time.Second, 0: 25 * time.Second, 24 * time.Second: time.Second, time.Minute: 0} {
		if got := p.Open("another", now.Add(after)); got != want {
			t.Errorf("after %v it may start for %v elsewhere, not %v", after, want, got)
		}
	}
	if p.Open("boot", now) != 0 {
		t.Error("on its own system nobody waits")
	}
	if !p.Holds(d) {
		t.Error("nothing was swept")
	}
	if err := d.setSince(now.Add(time.Second)); err != nil || p.Holds(d) {
		t.Errorf("records were swept since: %v", err)
	}
}

// However a record is cut, no more is read than was written whole.
func TestTorn(t *testing.T) {
	_, data := written(t)
	for n := range data {
		got := parse(data[:n])
		switch {
		case got.Exit != nil:
			t.Fatalf("%d of %d bytes have an end", n, len(data))
		case got.Begin != nil && cmp.Diff(fate.Begin, got.Begin) != "",
			got.Process != "" && (got.Process != fate.Process || got.Begin == nil):
			t.Fatalf("%d bytes read %+v", n, got)
		}
	}
}

// No flipped bit changes what is read, except by there being less of it.
func TestFlipped(t *testing.T) {
	_, data := written(t)
	for at := range data {
		for bit := range 8 {
			bad := append([]byte(nil), data...)
			bad[at] ^= 1 << bit
			got := parse(bad)
			if got.Exit != nil || got.Begin != nil && cmp.Diff(fate.Begin, got.Begin) != "" {
				t.Fatalf("bit %d of byte %d: %+v", bit, at, got)
			}
		}
	}
}

func TestForget(t *testing.T) {
	d, _ := written(t)
	other, open, never := pay, pay, pay
	other.Run, open.Call, never.Number = "other", "c_2", 2
	for _, a := range []Attempt{other, open} {
		f, err := d.Begin(Begin{Attempt: a})
		if err == nil {
			err = f.Close()
		}
		must(t, err)
	}
	if _, err := d.Fence(never); err != nil {
		t.Fatal(err)
	}
	must(t, d.Forget("r", func(call string) bool { return call == "c_2" }))
	for a, want := range map[Attempt]bool{pay: false, other: true, open: true, never: true} {
		if _, err := d.Read(a); (err == nil) != want {
			t.Errorf("%+v is kept: %v", a, err)
		}
	}
}

// What is swept is not taken for what never was.
func TestSweep(t *testing.T) {
	d, _ := written(t)
	young := pay
	young.Number = 2
	if _, err := d.Fence(young); err != nil {
		t.Fatal(err)
	}
	old := now.Add(-time.Hour)
	must(t, os.Chtimes(filepath.Join(d.path, pay.name()), old, old))
	must(t, d.Sweep(old.Add(-time.Minute)))
	if since, err := d.Since(); err != nil || !since.Equal(now) || len(d.files("")) != 2 {
		t.Errorf("nothing was old, and %v remain since %v: %v", d.files(""), since, err)
	}
	before := now.Add(time.Second) // so that the young one is not older
	must(t, os.Chtimes(filepath.Join(d.path, young.name()), before, before))
	must(t, d.Sweep(before))
	if since, err := d.Since(); err != nil || !since.Equal(before.Add(coarse)) {
		t.Errorf("complete since %v, want %v and some: %v", since, before, err)
	}
	if _, err := d.Read(pay); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the old one is still there: %v", err)
	}
	if _, err := d.Read(young); err != nil {
		t.Errorf("the young one is not: %v", err)
	}
}

// Several who make a directory, of which one kept no number yet, agree on one.
func TestDrawn(t *testing.T) {
	d, _ := written(t)
	other, _ := written(t)
	first, err := d.Drawn()
	if again, e := other.Drawn(); err != nil || e != nil || first == "" || first == again {
		t.Errorf("two directories are %q and %q: %v, %v", first, again, err, e)
	}
	must(t, os.Remove(filepath.Join(d.path, drawnName)))
	var made sync.WaitGroup
	drawn := make([]string, 8)
	for i := range drawn {
		made.Go(func() {
			if err := d.Make(now); err != nil {
				t.Error(err)
			}
			drawn[i], _ = d.Drawn()
		})
	}
	made.Wait()
	if drawn[0] == "" || drawn[0] == first || len(slices.Compact(drawn)) != 1 {
		t.Errorf("they drew %q after %q", drawn, first)
	}
	if files, _ := os.ReadDir(d.path); len(files) != 3 { // of one attempt, the date and the number
		t.Errorf("left are %v", files)
	}
}

func TestMakeKeepsItsDate(t *testing.T) {
	d, _ := written(t)
	must(t, d.Make(now.Add(time.Hour)))
	if since, err := d.Since(); err != nil || !since.Equal(now) {
		t.Errorf("%v, %v", since, err)
	}
	open := At(t.TempDir())
	must(t, os.Chmod(open.path, 0o777))
	if err := open.Make(now); err == nil {
		t.Error("a directory that everybody can write is taken")
	}
}

func FuzzParse(f *testing.F) {
	_, data := written(f)
	f.Add(data)
	f.Add(data[:len(data)/2])
	f.Add([]byte("\xff\xff\xff\xff\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got := parse(data)
		if more := parse(append(data[:len(data):len(data)], 1)); cmp.Diff(got, more) != "" {
			t.Errorf("a byte too many changes %+v to %+v", got, more)
		}
	})
}

// must ends a test at an error that it does not expect.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
