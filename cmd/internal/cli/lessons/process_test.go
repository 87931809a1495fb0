package lessons

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/cmd/internal/cli"
)

// TestMain lets the test binary be pawl itself, and the programs in children.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"pawl": func() {
			os.Exit(cli.Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ()))
		},
		"child": func() {
			if err := children[os.Args[1]](os.Args[2:]); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		},
	})
}

// children are programs that use pawl as a library, and the commands of tools.
var children = map[string]func(args []string) error{
	"hold":   hold,
	"linger": linger,
	"race":   race,
	"perish": perish,
}

// program is a command of this binary.
func program(t testing.TB, name string, args ...string) *exec.Cmd {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	return exec.Command(path, args...)
}

// A user has a directory, and a place for the state of pawl.
type user struct {
	t   testing.TB
	dir string
	env []string
}

// newUser gives the user some files, by name.
func newUser(t testing.TB, files map[string]string) *user {
	t.Helper()
	u := &user{t: t, dir: t.TempDir()}
	for name, text := range files {
		u.write(name, text)
	}
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if !strings.HasSuffix(name, "_API_KEY") && !strings.HasPrefix(name, "PAWL_") && name != "XDG_STATE_HOME" {
			u.env = append(u.env, v)
		}
	}
	u.env = append(u.env, "XDG_STATE_HOME="+filepath.Join(u.dir, "state"))
	return u
}

func (u *user) write(name, text string) {
	u.t.Helper()
	if err := os.WriteFile(filepath.Join(u.dir, name), []byte(text), 0o600); err != nil {
		u.t.Fatal(err)
	}
}

// read is the content of a file; empty when there is none.
func (u *user) read(name string) string {
	u.t.Helper()
	text, err := os.ReadFile(filepath.Join(u.dir, name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		u.t.Fatal(err)
	}
	return string(text)
}

// pawl is the command, to be run by the caller.
func (u *user) pawl(args ...string) *exec.Cmd {
	u.t.Helper()
	cmd := program(u.t, "pawl", args...)
	cmd.Dir, cmd.Env = u.dir, u.env
	return cmd
}

// A said is what a command printed, and its exit code.
type said struct {
	out, err string
	code     int
}

// does runs pawl to its end.
func (u *user) does(args ...string) said {
	u.t.Helper()
	var out, complaint bytes.Buffer
	cmd := u.pawl(args...)
	cmd.Stdout, cmd.Stderr = &out, &complaint
	err := cmd.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		u.t.Fatal(err)
	}
	return said{out.String(), complaint.String(), cmd.ProcessState.ExitCode()}
}

// must runs pawl, which must exit with a code.
func (u *user) must(code int, args ...string) said {
	u.t.Helper()
	s := u.does(args...)
	if s.code != code {
		u.t.Fatalf("pawl %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), s.code, code, s.out, s.err)
	}
	return s
}

// shows is what pawl says of the last run.
func (u *user) shows() pawl.Result {
	u.t.Helper()
	var r pawl.Result
	s := u.must(0, "show", "last", "--json")
	if err := json.Unmarshal([]byte(s.out), &r); err != nil {
		u.t.Fatalf("%v in %s", err, s.out)
	}
	return r
}

// entries are the lines of the last run's log.
func (u *user) entries() (all []pawl.Entry) {
	u.t.Helper()
	for line := range strings.Lines(u.must(0, "events", "last").out) {
		e, err := pawl.DecodeEntry([]byte(line))
		if err != nil {
			u.t.Fatalf("%v in %s", err, line)
		}
		all = append(all, e)
	}
	return all
}
