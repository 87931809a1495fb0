// Package mcpserver serves an agent and its tools over the Model Context Protocol
// (MCP), to clients that know nothing of Pawl. Package mcp is the client.
//
//	server, err := mcpserver.New(eng, journal, agent, nil)
//	…
//	err = server.Serve(ctx, os.Stdin, os.Stdout)
//
// Each tool of the agent is a tool of the server. The agent itself is a tool as
// well, with the agent's name and the task as input. Every call is a run of its
// own, in which the client takes the place of the model (see runs.Calling). So a
// call has a log, validated arguments, policies, limits, redacted secrets and, if a
// Write is interrupted, an unknown outcome, as in any other run.
//
// # Waiting calls
//
// The protocol cannot ask a person. A call that needs an approval, an answer or the
// resolution of an unknown outcome returns an error that names the run and what it
// waits for. After the decision, by pawl approve or engine.Engine.Approve, the
// client repeats the call. It gets the result of the run that waited: the tool runs
// once.
//
// # Cancelling
//
// A client that cancels a call cancels its run. When a client disconnects or the server's
// context ends, the runs of its calls are suspended and can be resumed.
package mcpserver
