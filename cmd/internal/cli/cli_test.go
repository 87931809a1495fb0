package cli_test

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-run/pawl"
)

// invoke runs a command in this process, as a function.
func invoke(t *testing.T, ctx context.Context, stdin io.Reader, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return typing(t, ctx, stdin, nil, args...)
}

// files has the test run in a directory with these files.
func files(t *testing.T, contents map[string]string) {
	t.Helper()
	t.Chdir(folder(t, contents))
}

// folder makes a directory with these files.
func folder(t *testing.T, contents map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range contents {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

// The end of the context parks the run, as a signal does; it says why.
func TestTheContextsEndParks(t *testing.T) {
	files(t, map[string]string{
		"slow.yaml":        "name: slow\nmodel: script:slow.script.yaml\n",
		"slow.script.yaml": "replies: [{text: never, hang: true}]\n",
	})
	ctx, cancel := context.WithCancel(t.Context())
	stop := make(chan struct{})
	go func() {
		defer close(stop)
		for { // until the run is there
			_, stdout, _ := invoke(t, t.Context(), nil, "runs", "--json", "--status", "running")
			if stdout != "" {
				cancel()
				return
			}
		}
	}()
	code, stdout, stderr := invoke(t, ctx, nil, "run", "slow.yaml", "go", "--json")
	<-stop
	var result pawl.Result
	if err := json.Unmarshal([]byte(stdout), &result); err != nil || code != 130 || result.Status != pawl.StatusPaused {
		t.Fatalf("exit %d, %v: %s\n%s", code, err, stdout, stderr)
	}
}

// Waiting for input that never comes ends with the context.
func TestReadingInputEnds(t *testing.T) {
	files(t, map[string]string{
		"yes.yaml":        "name: yes\nmodel: script:yes.script.yaml\n",
		"yes.script.yaml": "replies: [{text: it is}]\n",
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, w := io.Pipe()
	defer w.Close()
	code, stdout, _ := invoke(t, ctx, r, "run", "yes.yaml", "-")
	if code == 0 || stdout != "" {
		t.Fatalf("exit %d, stdout %q", code, stdout)
	}
	if _, stdout, _ := invoke(t, t.Context(), nil, "runs", "--json"); stdout != "" {
		t.Fatalf("something was run: %s", stdout)
	}
}
