package fakeprovider_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/anthropic"
	"github.com/pawl-run/pawl/model/script"
	"github.com/pawl-run/pawl/pawltest/fakeprovider"
)

// The first answer breaks off in the middle of a call. An adapter must not take
// it for whole.
func Example() {
	brain := script.Replies(pawl.Do(pawl.Call{Tool: "add", Args: json.RawMessage(`{"a":1,"b":2}`)}))
	fake := fakeprovider.New(brain, &fakeprovider.Options{Faults: []fakeprovider.Fault{fakeprovider.Must("cut-mid-arguments")}})
	srv := httptest.NewServer(fake)
	defer srv.Close()
	defer fake.Close()

	m := anthropic.New("claude-sonnet-5-5", &anthropic.Options{BaseURL: srv.URL, APIKey: "test"})
	question := pawl.Request{
		Messages: []pawl.Message{{Role: pawl.RoleUser, Parts: []pawl.Part{pawl.Text{Text: "What is 1 + 2?"}}}},
		Tools:    []pawl.ToolInfo{{Name: "add"}},
	}
	for range 2 {
		for chunk, err := range m.Stream(context.Background(), question) {
			switch {
			case err != nil:
				fmt.Println(err)
			case chunk.Reply != nil:
				call := chunk.Reply.Parts[0].(pawl.Call)
				fmt.Printf("%s%s\n", call.Tool, call.Args)
			}
		}
	}
	for _, r := range fake.Requests() {
		fmt.Printf("%v %s, struck %v, problems %q\n", r.Wire, r.Fault, r.Struck, r.Problems)
	}
	// Output:
	// model: truncated: the stream ended before the reply did
	// add{"a":1,"b":2}
	// anthropic cut-mid-arguments, struck true, problems []
	// anthropic , struck false, problems []
}

func ExampleFind() {
	f, ok := fakeprovider.Find("cut-mid-arguments@2")
	fmt.Println(f.Number, f.Wires, f.K, ok)
	fmt.Println(f)
	// Output:
	// 11 [anthropic chat responses] 2 true
	// cut-mid-arguments@2
}
