package engine_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/sqlite"
	"github.com/pawl-run/pawl/model/script"
)

// A durable run: its log is in a database, it is streamed while it runs, the next question
// belongs to the same conversation, and the answer is typed.
func Example_durable() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "pawl")
	orPanic(err)
	defer os.RemoveAll(dir)
	journal, err := sqlite.Open(ctx, filepath.Join(dir, "runs.db"), nil)
	orPanic(err)
	defer journal.Close()
	eng := engine.New(journal, nil)
	defer eng.Close() // suspends what still runs; any process resumes it

	type Trip struct {
		City string `json:"city" jsonschema:"where to"`
		Days int    `json:"days"`
	}
	agent := pawl.Agent{
		Name: "travel", Output: engine.OutputOf[Trip](),
		Model: script.Replies(pawl.Say(`{"city": "Lisbon", "days": 3}`), pawl.Say(`{"city": "Lisbon", "days": 5}`)),
	}
	for _, input := range []string{"Three days somewhere warm, please.", "Make it five."} {
		run, err := eng.Start(ctx, agent, input, &engine.StartOptions{Thread: "ada", Watch: true})
		orPanic(err)
		for entry, err := range run.Entries(ctx) {
			orPanic(err)
			if piece, ok := entry.Event.(pawl.ModelDelta); ok {
				fmt.Print(piece.Text)
			}
		}
		result, err := run.Wait(ctx)
		orPanic(err)
		trip, err := engine.Decode[Trip](result)
		fmt.Printf("\n%s for %d days, %v\n", trip.City, trip.Days, err)
	}
	// Output:
	// {"city": "Lisbon", "days": 3}
	// Lisbon for 3 days, <nil>
	// {"city": "Lisbon", "days": 5}
	// Lisbon for 5 days, <nil>
}

func orPanic(err error) {
	if err != nil {
		panic(err)
	}
}
