//go:build linux || darwin

package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/process"
	"github.com/pawl-run/pawl/tool"
)

func command(argv []string, o *tool.CommandOptions) pawl.Tool {
	newCalls()
	return tool.Command("command", "A command.", argv, o)
}

func TestCommandEnvironment(t *testing.T) {
	for name, value := range map[string]string{"LANG": "C.UTF-8", "TMPDIR": t.TempDir(), "HOME": t.TempDir(), "LEDGER_TOKEN": "s3cret", "OTHER": "x", "PAWL_RUN": "outer"} {
		t.Setenv(name, value)
	}
	c := command(part(t, "env"), &tool.CommandOptions{Env: []string{"LEDGER_TOKEN", "PAWL_RUN", "NOT_SET_ANYWHERE"}})
	out, err := c.Run(t.Context(), pawl.Invocation{Run: "r_1", Call: "c_2", Tool: "command", Key: "r_1/c_2", Attempt: 3})
	must(t, err)
	var text string
	must(t, json.Unmarshal(out.JSON, &text))
	got := strings.Split(text, "\n")
	slices.Sort(got)
	got = slices.DeleteFunc(got, func(line string) bool { return strings.HasPrefix(line, "PAWL_FILES=/") })
	want := []string{
		"HOME=" + os.Getenv("HOME"), "LANG=C.UTF-8", "LEDGER_TOKEN=s3cret", "PATH=" + os.Getenv("PATH"),
		"PAWL_ATTEMPT=3", "PAWL_CALL=c_2", "PAWL_IDEMPOTENCY_KEY=r_1/c_2", "PAWL_RUN=r_1", "TMPDIR=" + os.Getenv("TMPDIR"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
}

// A command's arguments go through a pipe, which holds 64 KiB: more must neither
// block a command that answers while it reads nor fail one that does not read.
func TestCommandLargeArguments(t *testing.T) {
	args, _ := json.Marshal(map[string]string{"text": strings.Repeat("ab\n", 1<<20)})
	out, err := command(part(t, "cat"), &tool.CommandOptions{MaxOutput: 8 << 20}).Run(t.Context(), pawl.Invocation{Args: args})
	if err != nil || string(out.JSON) != string(args) {
		t.Errorf("%d bytes came back as %d, %v", len(args), len(out.JSON), err)
	}
	for _, name := range []string{"closestdin", "env"} {
		if _, err := command(part(t, name), nil).Run(t.Context(), pawl.Invocation{Args: args}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCommandStops lets commands of several manners run until they are ready,
// ends their context, and looks for what is left.
func TestCommandStops(t *testing.T) { // Promises: T15.
	for _, c := range []struct {
		part  string
		grace time.Duration // short only where it is to be over
		want  string
	}{
		{"hang", time.Minute, "stopped: enough; killed by SIGTERM: and warning\nhanging"},
		{"orderly", time.Minute, "stopped: enough; exit 0: tidied up"},
		{"stubborn", 100 * time.Millisecond, "stopped: enough; killed by SIGKILL, and it printed nothing"},
	} {
		t.Run(c.part, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			files := []string{filepath.Join(dir, "leader")}
			if c.part == "stubborn" {
				files = append(files, filepath.Join(dir, "child"))
			}
			enough := errors.New("enough")
			ctx, cancel := context.WithCancelCause(t.Context())
			ids := make(chan []process.Identity, 1)
			go func() { // the processes while they live, to be told from later ones of the same id
				ids <- identities(ctx, files)
				cancel(enough)
			}()
			_, err := command(part(t, c.part, files...), &tool.CommandOptions{Grace: c.grace}).Run(ctx, pawl.Invocation{})
			cancel(nil)
			if err == nil || err.Error() != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
			if !errors.Is(err, context.Canceled) || !errors.Is(err, enough) {
				t.Errorf("%v is not the context's error and its cause", err)
			}
			gone(t, <-ids, len(files))
		})
	}
}

func TestCommandNotStarted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	cancel(enough)
	file := filepath.Join(t.TempDir(), "leader")
	_, err := command(part(t, "hang", file), nil).Run(ctx, pawl.Invocation{})
	if !errors.Is(err, context.Canceled) || !errors.Is(err, enough) || err.Error() != "not run: stopped before it was started: enough" {
		t.Errorf("got %v", err)
	}
	if exists(file) {
		t.Error("it was started after its time")
	}
}

// What a command leaves behind is ended before its result is taken.
func TestCommandLeaves(t *testing.T) {
	file := filepath.Join(t.TempDir(), "child")
	ids := make(chan []process.Identity, 1)
	go func() { ids <- identities(t.Context(), []string{file}) }()
	out, err := command(part(t, "leave", file), &tool.CommandOptions{Grace: 200 * time.Millisecond}).Run(t.Context(), pawl.Invocation{})
	if err != nil || string(out.JSON) != `"done"` {
		t.Errorf("got %s, %v", out.JSON, err)
	}
	gone(t, <-ids, 1)
}

func TestCommandFlood(t *testing.T) {
	const most = 1 << 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	out, err := command(part(t, "flood", "1024"), nil).Run(t.Context(), pawl.Invocation{})
	runtime.ReadMemStats(&after)
	if err != nil || !out.Truncated || len(out.JSON) > 20<<10 {
		t.Errorf("%d bytes, truncated %v, %v", len(out.JSON), out.Truncated, err)
	}
	if !strings.Contains(string(out.JSON), "… [1,073,7") {
		t.Errorf("no word of what is left out in %.200s…", out.JSON[len(out.JSON)/2-100:])
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > most {
		t.Errorf("%d bytes allocated for 1 GiB of output, want at most %d", got, most)
	}
}

// The log holds a thousand levels, and nothing a program prints may break it.
func TestCommandNests(t *testing.T) {
	for depth, want := range map[int]byte{900: '[', 1000: '"'} {
		text := strings.Repeat("[", depth) + strings.Repeat("]", depth)
		out, err := command(part(t, "say", text), nil).Run(t.Context(), pawl.Invocation{})
		if err != nil || out.JSON[0] != want {
			t.Errorf("%d levels: %.10s…, %v, want %c", depth, out.JSON, err, want)
		}
	}
}

func TestCommandGrace(t *testing.T) {
	for grace, want := range map[time.Duration]time.Duration{0: 6 * time.Second, time.Minute: time.Minute + time.Second} {
		c, ok := command([]string{"true"}, &tool.CommandOptions{Grace: grace}).(interface{ Grace() time.Duration })
		if !ok || c.Grace() < want {
			t.Errorf("a grace of %v is not announced as %v at least", grace, want)
		}
	}
}

// identities waits until processes have said who they are.
func identities(ctx context.Context, files []string) (ids []process.Identity) {
	for _, file := range files {
		for !exists(file) && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		text, _ := os.ReadFile(file)
		pid, _ := strconv.Atoi(string(text))
		id, err := process.Identify(pid)
		switch {
		case err == nil:
			ids = append(ids, id)
		case errors.Is(err, fs.ErrNotExist) && pid > 0: // ended already
			ids = append(ids, process.Identity{})
		}
	}
	return ids
}

func gone(t *testing.T, ids []process.Identity, want int) {
	t.Helper()
	if len(ids) != want {
		t.Errorf("%d processes have shown themselves, want %d", len(ids), want)
	}
	for _, id := range ids {
		if id.Alive() {
			t.Errorf("process %d is left", id.PID)
		}
	}
}
