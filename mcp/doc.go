// Package mcp makes tools of servers of the Model Context Protocol.
//
//	files, err := mcp.Connect(ctx, "files", mcp.Command([]string{"npx", "-y", "some-server", "."}, nil), nil)
//	…
//	defer files.Close()
//	agent.Tools = append(agent.Tools, files.Tools()...)
//
// A server is a program or a place that somebody else wrote, and everything it
// says is taken for that. Its tools are called NAME__tool, so that none can
// pass for another server's or for one of ours. What a tool says of its own
// effect counts only for a server that is trusted; every other tool is a
// [pawl.Write]. Descriptions are bounded, and cleaned of what a reader does not
// see. A server may not ask the model or the user anything: it is offered
// neither sampling nor elicitation nor roots.
//
// A program gets a clean environment, and can be held to a cage by the kernel; see
// [CommandOptions].
//
// # Definitions are pinned
//
// The digest of a tool's whole definition is the [pawl.ToolInfo] Version, so
// that a run is not resumed with a tool that has come to say something else.
// When a server announces a change while a run goes on, its tools are listed
// again before the next call: those whose definition is another than the pinned
// one are refused, by name, until the run is resumed with the change allowed.
// New tools are not offered, and tools that are gone are refused.
//
// # Servers die
//
// A call that finds its server gone starts or reaches it again, at most four
// times in a row with growing waits. If that fails, the call has an error and
// the run goes on. A Read or Idempotent call whose server is lost underneath it
// is made once more; of a Write nobody knows whether it took place, and the
// model is told so.
package mcp
