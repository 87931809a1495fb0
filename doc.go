// Package pawl is an agent loop as a pure machine. A run cannot run away or
// overshoot its budget, loses and repeats no work when its process dies, can
// wait for a person and go on in another process, and always says why it
// stopped.
//
// # One idea
//
// A run is an append-only log of events. State is a fold over that log. The
// loop is a pure function from state to the next step. Only package engine
// touches the world.
//
//	entries ─▶ State = fold        ─▶ Decide ─▶ Step ─▶ engine ─▶ entries
//
// The rest follows from it. Pausing a run needs no more than its log, and
// resuming folds the log again. Recovery from a crash is the same as resuming. A
// fork starts with the first entries of another run. The log says why a run
// stopped.
//
// # An agent is a value
//
// An [Agent] holds a name, a prompt, a [Model], [Tool] values, a [Loop], a stop
// [Condition], [Limits] and [Policy] values. [NewMachine] checks it, reporting
// every contradiction at once, and prepares it. The engine calls it for you:
//
//	result, err := engine.Run(ctx, agent, "Find a vendor for our cloud spend.")
//
// The error is for an invalid agent, a broken journal or an ended context.
// Every way in which a run ends by itself is a [Status] of the [Result]: a run
// that reached a limit, made no progress, or whose provider failed has an
// answer, a reason and, except for success, a way to go on.
//
// # Steps
//
// [Machine.Decide] returns one of six steps: [Observe] the world, [Think] (call
// the model), [Act] (run or answer open calls), [Record] facts, [Await] a signal
// from outside, or [Finish]. A [Loop] decides the course. The machine around it
// handles success, the stop condition, rejected replies, retries, unknown
// outcomes and limits, so that no loop can forget them. [ReAct] is the default
// loop, [SingleCall] the smallest; package workflow takes known steps. A loop of
// your own is one method.
//
// # Calls
//
// A tool declares its [Effect]. A Read may be repeated, an Idempotent call has
// one effect for equal arguments in a run, and a Write is never repeated: if it
// is interrupted, its outcome is unknown until a person or the tool resolves it.
// The intent to run a call is durable before the call runs. When a model sends a
// call that is invalid (an unknown tool, arguments that do not follow the
// schema), it reads the reason and can correct it.
//
// # Limits
//
// Three [Limits] always apply: 20 iterations, 500,000 tokens and 30 minutes of
// running. Before a model call the machine estimates its input and limits its
// reply; it does not send what does not fit. Dollars are a fourth limit, for
// models with a [Price].
//
// # The log
//
// An [Entry] is an [Event] with its place in the log. Event names and the JSON
// of entries are frozen. A [Journal] stores encoded entries under a lease with a
// fencing epoch; all but the owner of a run send [Signal] values to its [Inbox].
// Replay in package engine/replay decides a whole log again and reports whether
// the result is the same.
package pawl
