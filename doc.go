// Package pawl has the types of LLM agents whose runs are durable, and the pure
// machine that decides what a run does next. Package engine runs agents: start
// there with engine.Run, or read the examples below, which are whole programs.
// A run stays within its limits, continues after a crash without losing or
// repeating work, can wait for a person and continue in another process, and always
// says why it stopped.
//
// # One idea
//
// A run is an append-only log of events. State is a fold over that log. The loop is
// a pure function from state to the next step. Only package engine performs steps.
//
//	entries ─▶ State = fold        ─▶ Decide ─▶ Step ─▶ engine ─▶ entries
//
// So a pause needs no more than the log. Resuming a run folds its log again, and
// recovery from a crash is the same as resuming. A fork starts with the first
// entries of another run.
//
// # An agent is a value
//
// An [Agent] holds a name, a prompt, a [Model], [Tool] values, a [Loop], a stop
// [Condition], [Limits] and [Policy] values. [NewMachine] checks it, reporting
// every contradiction at once, and prepares it. The engine calls it for you:
//
//	result, err := engine.Run(ctx, agent, "Find a vendor for our cloud spend.")
//
// The error is for an invalid agent, a broken journal or an ended context. Every
// way in which a run ends by itself is a [Status] of the [Result]: a run that
// reached a limit, made no progress, or whose provider failed has an answer, a
// reason and, except for success, a way to continue. Result.Err makes it an error.
//
// # Steps
//
// [Machine.Decide] returns one of six steps: [Observe] the world, [Think] (call the
// model), [Act] (run or answer open calls), [Record] facts, [Await] a signal from
// outside, or [Finish]. A [Loop] chooses between them. The machine around it handles
// success, the stop condition, rejected replies, retries, unknown outcomes and
// limits, so that no loop can forget them. [ReAct] is the default loop, [SingleCall]
// the smallest; package workflow has loops of known steps. A loop of your own is one
// method.
//
// # Calls
//
// A tool declares its [Effect]. A Read may be repeated, an Idempotent call has one
// effect for equal arguments in a run, and a Write is never repeated: if it is
// interrupted, its outcome is unknown until a person or the tool resolves it. The
// intent to run a call is durable before the call runs. If a model sends an invalid
// call (an unknown tool, arguments that do not match the schema), it reads the
// reason and can correct the call.
//
// # Limits
//
// Three [Limits] always apply: 20 iterations, 500,000 tokens and 30 minutes of
// running. Before a model call the machine estimates its input and limits its
// reply; it does not send what does not fit. Dollars are a fourth limit, for models
// with a [Price].
//
// # The log
//
// An [Entry] is an [Event] with its place in the log. Event names and the JSON of
// entries are frozen. A [Journal] stores encoded entries. The owner of a run appends
// under a lease with a fencing epoch; every other process sends [Signal] values to
// the [Inbox] of the journal.
package pawl
