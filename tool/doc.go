// Package tool makes tools from Go functions, from commands, and from what a
// client does.
//
// # Functions
//
// [Func] turns a function into a tool. Its arguments are a struct (or a map with
// string keys, for arguments of any name), from which
// the schema that the model sees is derived:
//
//	type search struct {
//		Category string `json:"category" jsonschema:"what is sold" enum:"cloud,paper"`
//		Limit    int    `json:"limit,omitempty" jsonschema:"at most so many; all when left out"`
//	}
//
//	func searchVendors(ctx context.Context, s search) ([]Vendor, error) { … }
//
//	tool.Func("search_vendors", "Find vendors by category.", searchVendors, pawl.Read)
//
// A field is required unless it is a pointer or tagged omitempty or omitzero;
// nothing is nullable; properties that the struct does not name are refused.
// The tag jsonschema describes a field and enum lists its values. The machine
// validates arguments before the function sees them and coerces nothing.
//
// What the function returns is given to the model as JSON: a string as a
// string, a [encoding/json.RawMessage] as it is, a [pawl.Output] as it is (so
// that a tool can return images), anything else as [encoding/json.Marshal] has
// it. Its error is told to the model in its own words, so it should say what
// would be right.
//
// A type without a schema, an empty description and the like are no errors of
// Func, which could not be called in a list then. Every tool made here is a
// [pawl.Checker] and tells them when its agent is prepared.
//
// # Commands
//
// [Command] turns a program in any language into a tool: arguments in on
// stdin as one line of JSON, result out on stdout, exit code 0 for success.
//
//	tool.Command("lookup_ticket", "Look up a support ticket by id.", []string{"./lookup.sh"}, &tool.CommandOptions{
//		Input:  json.RawMessage(`{"type":"object","properties":{"ticket_id":{"type":"string"}},"required":["ticket_id"]}`),
//		Effect: pawl.Read,
//	})
//
// A program that calls [Supervise] first has its commands run under a supervisor,
// which outlives a crash of the program: whoever resumes the run finds what came
// of a command that was running then, and no person need be asked. [Spool] says
// where that is recorded.
//
//	func main() {
//		tool.Supervise()
//		…
//	}
//
// [RunCommand] is a command of the model's choice. Tools for files and for pages
// of the web are in the packages files and fetch beneath this one.
//
// # Clients
//
// [Client] declares a tool that somebody outside the process runs: a browser, a
// phone, a person with a form. The run waits until the result is handed in.
//
// # Witnesses
//
// Whoever approves a call relies on more than its arguments: the ledger he looked
// at, the script as he read it. A tool names such files as its witnesses; a
// command is its own witness besides, with its program, its working directory
// and the files among its operands. What changes while an approval is pending
// makes it void.
//
// # Effects
//
// Every tool has a [pawl.Effect]. One that says nothing is a Write: it runs
// alone, is never repeated, and when a crash leaves its outcome unknown the run
// stops and asks. A tool that cannot do harm should say [pawl.Read]. A tool
// that hands its idempotency key on, so that the far side can tell a repeat,
// should say [pawl.Idempotent]: a function finds the key through
// [InvocationFrom], a command in PAWL_IDEMPOTENCY_KEY.
//
// # Calls at once
//
// Calls that only read run at the same time, up to [pawl.Agent.MaxParallel]. A
// function that starts a process or calls a service should say External in its
// [Options], so that fewer of its calls run at once.
package tool
