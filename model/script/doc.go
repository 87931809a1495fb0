// Package script implements a model that answers from a file, for tests,
// documentation and demonstrations: `--model script:FILE`.
//
// A script is YAML or JSON and lists replies. The reply depends only on the
// request, never on earlier calls, so a run that is killed and resumed at any
// point gets the same replies. The turn is one more than the number of
// assistant messages in the request, including those that a summary replaces,
// and the nth reply answers turn n.
//
//	replies:
//	  - text: Let me look.                      # streamed, then part of the reply
//	    calls: [{tool: search, args: {q: shoes}}]
//	  - text: Blue ones, 40 euros.
//
// A reply has any of these keys:
//
//	text: TEXT          what it says
//	thinking: TEXT      its reasoning, streamed before the text
//	calls: [CALL, …]    the tools it wants run
//	usage: {input: 100, output: 20, cache_read: 0, cache_write: 0, reasoning: 0}
//	                    tokens; left out: not reported, so the run books its estimate
//	stop: REASON        end, calls, length, refusal or pause; left out: end, or calls when there are any
//	delay: 20ms         how long the reply takes, spread over its chunks; ends early with the context
//	chunks: 5           in how many pieces the text is streamed; left out: one
//	expect: TEXT        what the last user message, tool results included, must
//	                    contain; otherwise the call fails as invalid and says what came
//	hang: true          streams what it has, then waits until the context ends
//	error: {class: CLASS, message: TEXT, retry_after: 10ms, usage: {…}}
//	                    streams what it has, then fails; classes are those of
//	                    [pawl.Class]: rate_limit, overloaded, network, truncated, …
//	                    usage is all that is billed for it; left out: not reported, so
//	                    the run books what it reserved if anything was streamed
//	parts: [PART, …]    in place of thinking, text and calls: each {thinking: TEXT},
//	                    {text: TEXT} or {call: CALL}, in the order they come
//	turn: 3             under purposes: it answers only the requests of the run's third turn
//	attempts: [REPLY, …]
//	                    stands alone, but for turn: the nth attempt gets the nth
//	                    of these, further attempts the last
//
// A reply must not be empty by accident: `text: ""` makes an empty one.
//
// A call is {tool: NAME, args: VALUE, id: TEXT}. args is any value, sent as
// JSON with sorted keys; without it, {}. id is the provider's id of the call
// and may repeat. The tool need not exist. raw: TEXT in place of args is the
// model's exact text, which may be any JSON ('[1,2]', '{"a":1,"a":2}') or
// invalid JSON ('{"a":'), which becomes a JSON string like any unreadable
// arguments (see [pawl.Call]).
//
// {{turn}} in text, thinking, raw and the strings of args (but not their keys)
// is replaced by the turn number, so that an endless script can ask for
// something new each time. A string in args that is only "{{turn}}" becomes a
// number; quote it, because YAML reads a bare { as a mapping.
//
// Besides replies, a script may have:
//
//	repeat: last        after the last reply: last (again), all (start over) or
//	                    none, the default: the call fails and tells how many there are
//	purposes: {judge: [REPLY, …], summary: […], landing: […]}
//	                    replies to requests of other purposes. With n assistant
//	                    messages in the request, the nth reply answers; with none,
//	                    the first; after the last, the last. Without an entry a
//	                    landing gets a plain sentence, others fail
//	steps: {ID: [REPLY, …]}
//	                    replies to the steps of a workflow, by their ids: the nth
//	                    answers the nth round of the loop the step stands in, the
//	                    last all further ones. A step without an entry hears the
//	                    reply of the run's turn
//	children: {CALL: SCRIPT, …}
//	                    scripts for the child runs that a call such as c_1 starts;
//	                    a child without one is answered by this script
//	strict: true        a request beyond the last reply fails, for whatever purpose, and
//	                    [Model.Unasked] returns the replies that no request got
//	price: {input: 3, output: 15, cache_read: 0.3, cache_write: 3.75}
//	                    dollars a million tokens; left out: the model has no price
//
// [Record] writes the script of a run that took place, with strict: true.
//
// Unknown and repeated keys are errors that name the line and the column.
package script
