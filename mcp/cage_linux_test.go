package mcp_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/process"
	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/mcp"
)

// cell is a cage as package tool has it.
type cell process.Cage

func (c cell) Inner() *process.Cage { return (*process.Cage)(&c) }

// prisoner is a server that tries what it is told to.
func prisoner() {
	s := sdk.NewServer(&sdk.Implementation{Name: "prisoner", Version: "1"}, nil)
	type words struct {
		Do, With string
	}
	sdk.AddTool(s, &sdk.Tool{Name: "try", Description: "Try."}, func(_ context.Context, _ *sdk.CallToolRequest, in words) (*sdk.CallToolResult, any, error) {
		got, err := "", error(nil)
		switch in.Do {
		case "read":
			var text []byte
			text, err = os.ReadFile(in.With)
			got = string(text)
		case "write":
			err = os.WriteFile(in.With, []byte("x"), 0o600)
		case "dial":
			var c net.Conn
			if c, err = net.Dial("tcp", in.With); err == nil {
				c.Close()
			}
		case "fork":
			var text []byte
			text, err = exec.Command("sh", "-c", "i=0; while [ $i -lt 200 ]; do sleep 19 >/dev/null 2>&1 & i=$((i+1)); done").CombinedOutput()
			got = string(text)
		case "home":
			got = os.Getenv("HOME") + " " + os.Getenv("PAWL_CANARY")
		case "die":
			os.Exit(4)
		}
		return text(got), nil, err
	})
	serve(s)
}

func confined(t *testing.T, c process.Cage) cell {
	t.Helper()
	if err := c.Missing(); err != nil {
		if os.Getenv("CI") != "" && c.Files == nil && c.Processes == 0 {
			t.Fatal(err) // it takes a kernel of any age, and no rights
		}
		t.Skip(err)
	}
	return cell(c)
}

func imprisoned(t *testing.T, dir string, c process.Cage) *mcp.Server {
	t.Helper()
	return connectTo(t, mcp.Command([]string{os.Args[0], "play", "prisoner"}, &mcp.CommandOptions{Dir: dir, Env: []string{"GORACE"}, Cage: confined(t, c)}), nil)
}

func attempt(t *testing.T, s *mcp.Server, do, with string) string {
	t.Helper()
	return call(t, s, "peer__try", fmt.Sprintf(`{"Do":%q,"With":%q}`, do, with))
}

func TestCageFilesAndNetwork(t *testing.T) {
	t.Setenv("PAWL_CANARY", "canary")
	dir := t.TempDir()
	check.Write(t, dir, map[string]string{"in/a.txt": "inside", "out/b.txt": "", "secret": "the secret"})
	must(t, os.Symlink("../secret", filepath.Join(dir, "in/link")))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	s := imprisoned(t, dir, process.Cage{Files: []process.Files{{Read: []string{"in"}, Write: []string{"out"}}}, NoNetwork: true})
	home := strings.Trim(attempt(t, s, "home", ""), `" `)
	for _, again := range []bool{false, true} {
		for _, tt := range []struct{ do, with, want string }{
			{"read", "in/a.txt", `"inside"`},
			{"write", "out/new", `""`},
			{"read", "out/new", `"x"`},
			{"write", "in/a.txt", "permission denied"},
			{"read", "secret", "permission denied"},
			{"read", "in/link", "permission denied"},
			{"read", "/etc/passwd", "permission denied"},
			{"read", fmt.Sprintf("/proc/%d/environ", os.Getpid()), "permission denied"},
			{"write", filepath.Join(dir, "secret"), "permission denied"},
			{"dial", l.Addr().String(), "permission denied"},
		} {
			if got := attempt(t, s, tt.do, tt.with); !strings.Contains(got, tt.want) {
				t.Errorf("%s %s: %s, want %s", tt.do, tt.with, got, tt.want)
			}
		}
		if !again { // one that is started again is in a cage of its own
			attempt(t, s, "die", "")
		}
	}
	if _, err := os.Stat(home); err == nil || !strings.Contains(home, "pawl-cage-") {
		t.Errorf("the home of the one that died is %q, and still there", home)
	}
	if got := pick(t, s, "peer__try").Info().Cage; !strings.Contains(got, "files: read [in], write [out] (landlock") || !strings.Contains(got, "network: none (seccomp") {
		t.Errorf("it is declared as %q", got)
	}
	if got := attempt(t, s, "home", ""); strings.Contains(got, "canary") {
		t.Errorf("its environment: %s", got)
	}
}

func TestCageProcesses(t *testing.T) {
	s := imprisoned(t, t.TempDir(), process.Cage{Processes: 60})
	if got := attempt(t, s, "fork", ""); !strings.Contains(got, "error: ") {
		t.Errorf("two hundred processes in a cage for sixty: %.300s", got)
	}
}

// What keeps a server from starting is said with what it printed.
func TestCageHint(t *testing.T) {
	for _, tt := range []struct {
		cage process.Cage
		argv []string
		want string
	}{
		{process.Cage{NoNetwork: true}, []string{os.Args[0], "play", "needs network"}, "permission denied; it is in a cage of privileges: none; network: none"},
		{process.Cage{Memory: 256 << 20}, []string{"sh", "-c", "ulimit -d >&2"}, "it printed: 262144; it is in a cage"},
		{process.Cage{Files: []process.Files{{Read: []string{"none"}}}}, []string{"sh", "-c", "true"}, "its cage names"},
		{process.Cage{Files: []process.Files{{Read: []string{"."}}}}, []string{"sh", "-c", "cat /etc/passwd"}, "Permission denied; it is in a cage of privileges: none; files: read [.], write []"},
		{process.Cage{Memory: 1}, []string{"sh"}, "no program runs in less than"},
	} {
		var in cell
		if in = cell(tt.cage); tt.cage.Memory != 1 {
			in = confined(t, tt.cage)
		}
		s, err := mcp.Connect(t.Context(), "peer", mcp.Command(tt.argv, &mcp.CommandOptions{Dir: t.TempDir(), Cage: in}), &mcp.Options{Opening: 10 * time.Second})
		if err == nil {
			s.Close()
			t.Errorf("%v was connected to", tt.argv)
		} else if !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: %v\nwant: … %s …", tt.argv[1:], err, tt.want)
		}
	}
}

// A cage that does not let a tool be reached does not change what the tool is.
func TestCagePins(t *testing.T) {
	free, caged := connect(t, "good", nil), process.Cage{NoNetwork: true}
	s := connectTo(t, mcp.Command([]string{os.Args[0], "play", "good"}, &mcp.CommandOptions{Env: []string{"GORACE"}, Cage: confined(t, caged)}), nil)
	declared := func(s *mcp.Server) pawl.Declaration {
		m, err := pawl.NewMachine(pawl.Agent{Name: "a", Model: pawl.ModelFunc(nil), Tools: []pawl.Tool{pick(t, s, "peer__echo")}})
		must(t, err)
		return m.Declaration()
	}
	if a, b := pick(t, free, "peer__echo").Info().Version, pick(t, s, "peer__echo").Info().Version; a != b {
		t.Errorf("pins %s and %s", a, b)
	}
	if got := declared(free).Differences(declared(s)); len(got) != 1 || got[0] != "tool peer__echo" {
		t.Errorf("the declarations differ in %v", got)
	}
}
