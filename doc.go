// Package pawl is an agent loop as a pure machine: a loop that cannot run
// away, cannot overshoot its budget, cannot lose or repeat work it has done,
// can pause for a person and go on in another process, and can always say why
// it stopped.
//
// # One idea
//
// A run is an append-only log of events. State is a fold over that log. The
// loop is a pure function from state to the next step. Only package engine
// touches the world.
//
//	entries ─▶ State = fold        ─▶ Decide ─▶ Step ─▶ engine ─▶ entries
//
// Everything else follows from it: pausing is to stop reading, resuming is to
// read again, recovering from a crash is resuming, a fork reads a prefix, and
// the reason a run stopped stands in its log.
//
// # An agent is a value
//
// An [Agent] holds a name, a prompt, a [Model], [Tool] values, a [Loop], a stop
// [Condition], [Limits] and [Policy] values. [NewMachine] checks it, reporting
// every contradiction at once, and makes it ready. The engine does that for you:
//
//	result, err := engine.Run(ctx, agent, "Find a vendor for our cloud spend.")
//
// The error is for an invalid agent, a broken journal or an ended context.
// Every way a run can end by itself is a [Status] of the [Result]: a run that
// met a ceiling, got stuck, or whose provider died has an answer, a reason and,
// but for success, a way to go on.
//
// # Steps
//
// [Machine.Decide] answers with one of six steps: [Observe] the world, [Think]
// (call the model), [Act] (settle open calls), [Record] facts, [Await] somebody
// outside, or [Finish]. A [Loop] chooses the course; the machine around it sees
// to success, the stop condition, rejected replies, retries, doubts and ceilings,
// so that no loop can forget to. [ReAct] is the default loop, [SingleCall] the
// smallest, package workflow takes known steps; a loop of your own is one method.
//
// # Calls
//
// A tool declares its [Effect]. A Read may be repeated, an Idempotent call has
// one effect for equal arguments in a run, and a Write is never repeated: cut
// short, it becomes a doubt that somebody settles. The intent to run a call is
// durable before it runs. What a model sent wrongly (an unknown tool, arguments
// that do not follow the schema) comes back to it as text it can act on.
//
// # Ceilings
//
// Three [Limits] are always on: 20 iterations, 500,000 tokens and 30 minutes
// of running. Before a model call its input is estimated and its reply clamped;
// what does not fit is not sent. Dollars are a fourth, for models with a [Price].
//
// # The log
//
// An [Entry] is an [Event] with its place in the log. Event names and the JSON
// of entries are frozen. A [Journal] stores encoded entries under a lease with a
// fencing epoch; everybody but the owner writes [Signal] values to its
// [Inbox]. Engine.Replay of package engine decides a whole log again and
// reports whether it would be the same.
package pawl
