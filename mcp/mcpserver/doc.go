// Package mcpserver serves an agent and its tools over the Model Context
// Protocol, to clients that know nothing of Pawl.
//
//	server, err := mcpserver.New(eng, agent, nil)
//	…
//	err = server.Serve(ctx, os.Stdin, os.Stdout)
//
// Each tool of the agent is a tool of the server, and so is the agent itself,
// under its name, with its task as input. Nothing runs beside the machine: a
// call is a run of its own, in which the client stands where the model stands
// (see [Calling]). So it has a log, and arguments are validated, policies asked,
// ceilings held, secrets kept out, a lost Write doubted, as in any other run.
//
// # What waits
//
// Nobody can be asked through the protocol. A call that needs a decision, an
// answer or the settling of a doubt is answered with an error that names the run
// and what it waits for. When somebody has decided, by pawl approve or
// [engine.Engine.Decide], the client makes the same call again and gets the
// result of the run that waited: the call itself is made once.
//
// # Cancelling
//
// A call that the client cancels cancels its run. When the server's context
// ends its runs are parked, and can be resumed.
package mcpserver
