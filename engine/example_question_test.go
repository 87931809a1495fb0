package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/sqlite"
	"github.com/pawl-run/pawl/model/script"
)

// A question parks the run: no process and no goroutine waits for the answer.
// It may come from elsewhere, here from another engine on the same file, and
// lands as the answer to that very question.
func ExampleEngine_Answer() {
	dir, err := os.MkdirTemp("", "question")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	journal, err := sqlite.Open(ctx, filepath.Join(dir, "runs.db"), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer journal.Close()

	agent := pawl.Agent{
		Name:     "painter",
		Builtins: true, // among them the question to a person
		Model: script.Replies(
			pawl.Do(pawl.Call{Tool: "__pause_for_human__", Args: json.RawMessage(`{"question": "Which colour?"}`)}),
			pawl.Say("Painted."),
		),
	}
	here := engine.New(journal, nil)
	run, err := here.Start(ctx, agent, "Paint the door.", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := run.Wait(ctx)
	fmt.Println(result.Status, err)
	question := result.Pending[0]
	fmt.Println(question.Kind, question.Call, question.Reason)

	elsewhere := engine.New(journal, nil)
	if err := elsewhere.Answer(ctx, question.Run, question.Call, "ada", "blue"); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(elsewhere.Answer(ctx, question.Run, question.Call, "bob", "red") != nil) // it has been answered
	run, err = elsewhere.Resume(ctx, agent, question.Run, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err = run.Wait(ctx)
	fmt.Println(result.Status, result.Answer, err)
	// Output:
	// waiting_input <nil>
	// input c_1 Which colour?
	// true
	// success Painted. <nil>
}
