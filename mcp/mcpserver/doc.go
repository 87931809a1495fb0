// Package mcpserver serves an agent and its tools over the Model Context
// Protocol, to clients that know nothing of Pawl.
//
//	server, err := mcpserver.New(eng, agent, nil)
//	…
//	err = server.Serve(ctx, os.Stdin, os.Stdout)
//
// Each tool of the agent is a tool of the server, and so is the agent itself, under its name, with
// its task as input. A call is a run of its own, with the client in the place of the model (see
// [Calling]). So it has a log, validated arguments, policies, limits, scrubbed secrets and unknown
// outcomes of lost Writes, as any other run.
//
// # What waits
//
// The protocol cannot ask people. A call that needs a decision, an answer or the resolution
// of an unknown outcome gets an error that names the run and what it waits for. After a
// decision, by pawl approve or [engine.Engine.Approve], the client repeats the call and
// gets the result of the run that waited: the call itself is made once.
//
// # Cancelling
//
// A client that cancels a call cancels its run. When the server's context ends its runs are
// suspended, and can be resumed.
package mcpserver
