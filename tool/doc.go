// Package tool makes tools, which an agent's model can call: from Go functions
// ([Func]), from commands ([Command]), from other agents ([Agent]), and from what a
// client of the run does ([Client]). Tools of MCP servers come from package mcp.
//
// # Functions
//
// [Func] makes a tool of a function. The function's arguments are a struct, or a map
// with string keys for arguments of any name. The schema that the model sees is
// derived from their type:
//
//	type search struct {
//		Category string `json:"category" jsonschema:"what is sold" enum:"cloud,paper"`
//		Limit    int    `json:"limit,omitempty" jsonschema:"at most so many; all when left out"`
//	}
//
//	func searchVendors(ctx context.Context, s search) ([]Vendor, error) { … }
//
//	var vendors = tool.Func("search_vendors", "Find vendors by category.", searchVendors, pawl.Read)
//
// A field is required unless it is a pointer or tagged omitempty or omitzero. Nothing
// is nullable. Properties that the struct does not name are refused. The tag
// jsonschema describes a field and enum lists its values. Arguments are validated
// before the function gets them, and never coerced.
//
// The model reads the function's result as JSON: a string as a string, a
// [encoding/json.RawMessage] and a [pawl.Output] unchanged (an Output can hold
// images), anything else as [encoding/json.Marshal] writes it. The model reads an
// error's text unchanged, so the text should say what to do instead.
//
// Func does not return an error, so that it can be called in a list of tools. A type
// without a schema, an empty description and the like are reported when the agent is
// prepared: every tool made here is a [pawl.Checker].
//
// # Commands
//
// [Command] makes a tool of a program in any language: arguments on stdin as one line
// of JSON, the result on stdout, exit code 0 for success.
//
//	tool.Command("lookup_ticket", "Look up a support ticket by id.", []string{"./lookup.sh"}, &tool.CommandOptions{
//		Input:  json.RawMessage(`{"type":"object","properties":{"ticket_id":{"type":"string"}},"required":["ticket_id"]}`),
//		Effect: pawl.Read,
//	})
//
// If a program calls [Supervise] first, its commands run in wrappers, which survive
// a crash of the program. When the run is resumed, the engine finds the outcome of
// a command that was running during the crash and need not ask a person.
// [RecordIn] sets where outcomes are recorded.
//
//	func main() {
//		tool.Supervise()
//		…
//	}
//
// [RunCommand] makes a tool that runs programs of the model's choice. [Exec] runs one
// within a tool that is a Go function. The packages
// files and fetch below this one have tools for files and web pages.
//
// # Clients
//
// [Client] declares a tool that runs outside the process: in a browser, on a phone, or
// by a person with a form. The run waits until the result is submitted.
//
// # Preconditions
//
// An approver relies on more than a call's arguments: on the ledger as it was, on the
// script as it read. A tool names such files in its options under Witness. A command
// adds its program, its working directory and the scripts among its operands. If one
// of them changes while an approval is pending, the approval is void.
//
// # Effects
//
// Every tool has a [pawl.Effect]. The default is Write: a Write runs alone, is never
// repeated, and if a crash leaves its outcome unknown, the run stops and asks. A tool
// that changes nothing should declare [pawl.Read]. A tool that passes its idempotency
// key on, so that the receiver can detect a repeat, should declare [pawl.Idempotent]: a
// function gets the key from [InvocationFrom], a command from PAWL_IDEMPOTENCY_KEY.
//
// # Stopping
//
// The context of a call ends when its time is over, when the run is suspended, and when
// it is cancelled. A tool whose work goes on elsewhere should end it there only if the run
// is cancelled: then [context.Cause] has a method Cancelled() bool that returns true. A
// suspended run may find the work again.
//
// # Parallel calls
//
// Calls that only read run at the same time, up to [pawl.Agent.MaxParallel]. A function
// that starts a process or calls a service should set External in its [Options], so
// that fewer of its calls run at once.
package tool
