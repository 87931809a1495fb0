package process

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func init() {
	if os.Args[0] == stepName {
		Enter()
	}
}

// A program that does not begin with Enter must not be started in a command's
// place: it would do what it always does.
func TestNotEnabled(t *testing.T) {
	c := Cage{Files: []Files{{}}, NoNetwork: true, Processes: 1}
	if err := c.Missing(); err == nil || !strings.Contains(err.Error(), "have main call tool.Supervise first") {
		t.Error(err)
	}
	if _, err := c.Open(false); err == nil {
		t.Error("it was opened")
	}
	if starts(0) {
		t.Error("the program was started")
	}
	_ = c.Describe() // starts nothing
}

// What a machine cannot enforce is refused, by the name of what is missing.
func TestMissing(t *testing.T) {
	Enter()
	defer enabled.Store(false)
	whole := machine
	defer func() { machine = whole }()
	all := Cage{Files: []Files{{Read: []string{"."}}}, NoNetwork: true, Memory: 1 << 30, Processes: 64}
	type lacks struct {
		landlock           int
		filters, namespace bool
		groups             string
		root               bool
	}
	for _, c := range []struct {
		has  lacks
		want []string
	}{
		{lacks{7, true, true, "", false}, nil},
		{lacks{3, true, true, "", false}, nil},
		{lacks{7, true, false, "/group", true}, nil},
		{lacks{2, true, true, "", false}, []string{"asks for files, which this machine cannot enforce: it takes Landlock version 3, of Linux 6.2; here it is 2"}},
		{lacks{0, false, true, "", false}, []string{"seccomp filters", "here it is 0"}},
		{lacks{7, true, false, "", false}, []string{"asks for a number of processes, which this machine cannot enforce: it takes user namespaces"}},
		{lacks{7, true, true, "", true}, []string{"for root it takes a pids control group"}},
	} {
		machine.landlock = func() int { return c.has.landlock }
		machine.filters = func() bool { return c.has.filters }
		machine.starts = func(uintptr) bool { return c.has.namespace }
		machine.groups = func(string) string { return c.has.groups }
		machine.root = func() bool { return c.has.root }
		err := all.Missing()
		if (err == nil) != (len(c.want) == 0) {
			t.Errorf("%+v: %v", c.has, err)
		}
		for _, want := range c.want {
			if err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%+v: %v, want %s", c.has, err, want)
			}
		}
		if len(c.want) > 0 {
			if _, err := all.Open(true); err == nil {
				t.Errorf("%+v: it was opened", c.has)
			}
		}
		if err := (Cage{Memory: 1 << 30}).Missing(); (err == nil) != c.has.filters {
			t.Errorf("%+v: memory alone: %v", c.has, err)
		}
	}
	machine.landlock, machine.starts, machine.root = func() int { return 3 }, func(uintptr) bool { return false }, func() bool { return false }
	if got := all.Describe(); !strings.HasSuffix(got, "network: none (seccomp); memory: 1073741824 bytes (rlimit, seccomp); processes: 64 (rlimit in a user namespace)") ||
		!strings.HasPrefix(got, "privileges: none (no_new_privs, capabilities dropped); files: read [.], write [] (landlock, seccomp); ") {
		t.Error(got)
	}
	machine.starts = func(flags uintptr) bool { return flags == unix.CLONE_NEWUSER|unix.CLONE_NEWNET }
	if got := (Cage{NoNetwork: true}).Describe(); !strings.Contains(got, "(seccomp, network namespace)") {
		t.Error(got)
	}
}

func TestWrong(t *testing.T) {
	for _, c := range []Cage{
		{Files: []Files{{Read: []string{""}}}}, {Files: []Files{{Write: []string{"a\x00"}}}}, {Memory: -1}, {Memory: 5}, {Processes: -1},
	} {
		if len(c.Wrong()) != 1 {
			t.Errorf("%+v: %v", c, c.Wrong())
		}
	}
	if errs := (Cage{Files: []Files{{Read: []string{"."}}}, Memory: 1 << 20, Processes: 1}).Wrong(); errs != nil {
		t.Error(errs)
	}
}
