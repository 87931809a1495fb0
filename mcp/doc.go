// Package mcp is a client of the Model Context Protocol (MCP): it turns the tools
// of MCP servers into tools of an agent. To serve an agent over MCP, use package
// mcp/mcpserver.
//
//	files, err := mcp.Connect(ctx, "files", mcp.Command([]string{"npx", "-y", "some-server", "."}, nil), nil)
//	…
//	defer files.Close()
//	agent.Tools = append(agent.Tools, files.Tools()...)
//
// [Connect] connects to a [Server] over a [Transport]: a program ([Command]) or a
// URL ([HTTP]). [Server.Tools] returns its tools.
//
// A server is third-party code, and everything that it sends is untrusted. Its
// tools are called NAME__tool, so that no tool can pass for that of another server
// or a built-in one. What a tool declares about its own effect counts only if the
// server is trusted; otherwise every tool is a [pawl.Write]. Descriptions are
// bounded, and invisible characters are removed. A server may ask a person during a
// call, for which the run waits. It is offered neither sampling nor roots.
//
// A program gets a clean environment and can run in a sandbox; see
// [CommandOptions].
//
// # Definitions are pinned
//
// The digest of a tool's whole definition is the Version in its [pawl.ToolInfo], so
// that a run does not resume with a changed tool unnoticed. If a server announces a
// change during a run, its tools are listed again before the next call. A tool
// whose definition differs from the pinned one is refused until the run is resumed
// with the change allowed. New tools are not offered, and removed tools are
// refused.
//
// # Lost servers
//
// A call that finds its server gone starts it, or connects to it, again: at most
// four times in a row, with growing waits. If that fails, the call fails and the
// run goes on. If a server is lost during a Read or Idempotent call, the call is
// made once more. If it is lost during a Write, the outcome of the call is unknown,
// and the model reads that.
package mcp
