package temporal

import (
	"path/filepath"
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
	if err != nil || len(files) < 3 {
		t.Fatalf("there are %d histories, %v", len(files), err)
	}
	for _, file := range files {
		if err := replayed(t, file); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}
