package tool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/tool"
)

// What was cut off a result is read from the journal, page by page, and what was
// left out of the conversation from the log.
func TestReadMore(t *testing.T) {
	var long strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&long, "line %d\n", i)
	}
	book := tool.Func("book", "Read the book.", func(context.Context, struct{}) (string, error) { return long.String(), nil }, pawl.Read)
	more := func(args string) pawl.Reply {
		return pawl.Do(pawl.Call{Tool: "read_more", Args: json.RawMessage(args)})
	}
	replies := []pawl.Reply{pawl.Do(pawl.Call{ID: "theirs", Tool: "book", Args: json.RawMessage(`{}`)}), more(`{"call":"c_9"}`), more(`{"call":"c_1","offset":999999}`)}
	for at := 0; at < long.Len(); at += 8192 {
		name := "c_1"
		if at == 0 {
			name = "theirs"
		}
		replies = append(replies, more(fmt.Sprintf(`{"call":%q,"offset":%d}`, name, at)))
	}
	e := engine.New(memory.New(), nil)
	defer e.Close()
	run, err := e.Start(t.Context(), pawl.Agent{
		Name: "reader", Model: script.Replies(append(replies, pawl.Say("Read."))...), Tools: []pawl.Tool{book, tool.ReadMore()},
	}, "Read it.", nil)
	must(t, err)
	var got strings.Builder
	var failures []string
	for entry, err := range run.Entries(t.Context()) {
		must(t, err)
		f, ok := entry.Event.(pawl.ToolFinished)
		if !ok || f.Tool != "read_more" {
			continue
		}
		if f.Status != pawl.ToolOK {
			failures = append(failures, f.Error)
			continue
		}
		head, text, _ := strings.Cut(pawl.ToolResult{Content: f.Result}.Text(), "]\n")
		if !strings.HasPrefix(head, "[bytes ") {
			t.Error(head)
		}
		got.WriteString(text)
	}
	if got.String() != long.String() {
		t.Errorf("%d bytes were read of %d", got.Len(), long.Len())
	}
	if want := `[there is no call "c_9" with a result the result of c_1 has 42890 bytes; begin before them]`; len(failures) != 2 || fmt.Sprint(failures) != strings.ReplaceAll(want, "42890", fmt.Sprint(long.Len())) {
		t.Errorf("%q", failures)
	}
}
