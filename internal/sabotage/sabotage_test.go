package sabotage_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl/internal/sabotage"
)

// A guard is the test that notices when a promise is broken.
type guard struct {
	promise sabotage.Switch
	dir     string // of the test's package
	test    string // as for go test -run
}

const (
	root   = "."
	engine = "engine"
	memory = "journal/memory"
	sqlite = "journal/sqlite"
)

var guards = []guard{
	{sabotage.Fsync, sqlite, "TestSyncFailsOnce"},
	{sabotage.Fsync, sqlite, "TestFaults/sync"},
	{sabotage.Records, sqlite, "TestAltered/data"},
	{sabotage.Pages, sqlite, "TestFlipped"},
	{sabotage.Epoch, sqlite, "TestContract/append/fenced"},
	{sabotage.Epoch, memory, "TestContract/append/fenced"},
	{sabotage.After, sqlite, "TestContract/append/conflict"},
	{sabotage.After, memory, "TestContract/append/conflict"},
	{sabotage.Letters, sqlite, "TestContract/mail/conflict"},
	{sabotage.Letters, memory, "TestContract/mail/conflict"},
	{sabotage.Lease, sqlite, "TestContract/claim/live"},
	{sabotage.Lease, memory, "TestContract/claim/live"},
	{sabotage.Lease, engine, "TestResumeRace"},

	{sabotage.Intent, engine, "TestIntentFirst"},
	{sabotage.Intent, engine, "TestAppendFails"},
	{sabotage.Request, engine, "TestIntentFirst"},
	{sabotage.Booking, engine, "TestLostCallsAreBooked"},
	{sabotage.Repeat, engine, "TestWriteOnce"},
	{sabotage.Repeat, engine, "TestResumeAnywhere"},
	{sabotage.Repeat, root, "TestLoops/crash"},
	{sabotage.Key, engine, "TestKeyStays"},
	{sabotage.Reuse, engine, "TestReuse"},
	{sabotage.Consume, engine, "TestDecisionIsForOneCall"},
	{sabotage.Stale, engine, "TestStaleDecision"},
	{sabotage.Witness, engine, "TestWitnessAgain"},
	{sabotage.Heartbeat, engine, "TestHeartbeat"},
	{sabotage.Change, engine, "TestCompatible/prompt"},
	{sabotage.Newer, root, "TestBadHistories/newer_machine"},
	{sabotage.Sum, engine, "TestImportFlipped"},
	{sabotage.Torn, engine, "TestImportTorn"},
	{sabotage.Scrub, engine, "TestCanary"},
}

// TestSabotage breaks each promise and looks whether the test that holds it
// fails, and whether it passes in the same build while nothing is broken.
func TestSabotage(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the tests of four packages once more")
	}
	if sabotage.On("") {
		t.Skip("it is itself built with sabotage")
	}
	top, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-tags", "sabotage", "-o", bin, "./"+root, "./"+memory, "./"+sqlite, "./"+engine)
	build.Dir = top
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	guarded := map[sabotage.Switch]bool{}
	for _, g := range guards {
		guarded[g.promise] = true
	}
	for _, s := range sabotage.All() {
		if !guarded[s] {
			t.Errorf("no test is named that holds the promise %s", s)
		}
	}
	for _, g := range guards {
		t.Run(string(g.promise)+"/"+filepath.Base(g.dir)+"/"+g.test, func(t *testing.T) {
			t.Parallel()
			out, err := run(t, top, bin, g.dir, g.test, "")
			if err != nil || !strings.Contains(out, "--- PASS: "+g.test) {
				t.Fatalf("it fails although nothing is broken: %v\n%s", err, out)
			}
			out, err = run(t, top, bin, g.dir, g.test, g.promise)
			if exit := new(exec.ExitError); !errors.As(err, &exit) || !strings.Contains(out, "--- FAIL: "+g.test) {
				t.Errorf("nobody notices: %v\n%s", err, out)
			}
		})
	}
}

// run runs one test of a package, with a promise broken.
func run(t *testing.T, top, bin, dir, test string, broken sabotage.Switch) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	parts := strings.Split(test, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	name := filepath.Base(dir)
	if dir == root {
		name = "pawl"
	}
	c := exec.CommandContext(ctx, filepath.Join(bin, name+".test"), "-test.short", "-test.v", "-test.timeout=50s", "-test.run="+strings.Join(parts, "/"))
	c.Dir = filepath.Join(top, dir)
	c.Env = append(os.Environ(), "PAWL_SABOTAGE="+string(broken), "PAWL_PROOF=") // the proof is another test's
	out, err := c.CombinedOutput()
	return string(out), err
}

// TestOff: without the tag nothing can be broken, whatever the environment says.
func TestOff(t *testing.T) {
	if sabotage.On("") {
		t.Skip("it is built with sabotage")
	}
	if os.Getenv("PAWL_SABOTAGE") != "" {
		for _, s := range sabotage.All() {
			if sabotage.On(s) {
				t.Errorf("%s is broken", s)
			}
		}
		return
	}
	for _, s := range sabotage.All() {
		c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestOff$")
		c.Env = append(os.Environ(), "PAWL_SABOTAGE="+string(s))
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", s, err, out)
		}
	}
}
