package temporal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// replayed replays a history of the workflow with the code as it is.
func replayed(t *testing.T, file string) error {
	t.Helper()
	r := worker.NewWorkflowReplayer()
	r.RegisterWorkflowWithOptions(drives, workflow.RegisterOptions{Name: workflowType})
	return r.ReplayWorkflowHistoryFromJSONFile(nil, file)
}

// Histories that a server wrote are replayed by every build, for workflows outlive it. The
// tests against a server write them again with -rewrite; one that differs takes a new name of
// the workflow instead.
func TestHistories(t *testing.T) {
	files, err := filepath.Glob("testdata/histories/*.json")
	if err != nil || len(files) < 4 {
		t.Fatalf("there are %d histories, %v", len(files), err)
	}
	for _, file := range files {
		if err := replayed(t, file); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// A history that another workflow wrote is noticed.
func TestBadHistory(t *testing.T) {
	text, err := os.ReadFile("testdata/histories/approvals.json")
	must(t, err)
	bad := filepath.Join(t.TempDir(), "bad.json")
	other := strings.Replace(string(text), `"name":"Drive"`, `"name":"Think"`, 1)
	if other == string(text) {
		t.Fatal("the history names no activity Drive")
	}
	must(t, os.WriteFile(bad, []byte(other), 0o600))
	if err := replayed(t, bad); err == nil || !strings.Contains(err.Error(), "TMPRL1100") {
		t.Errorf("it is replayed without complaint: %v", err)
	}
}
