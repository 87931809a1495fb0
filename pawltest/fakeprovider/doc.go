// Package fakeprovider is an HTTP server that speaks the wires of model
// providers and goes wrong on demand, for testing agents and the adapters
// beneath them.
//
// A [Server] answers with the replies of any [pawl.Model], its brain: a script,
// a function, another provider. It reads a request from its wire, checks it as
// strictly as the provider would, asks the brain, and writes the reply as that
// provider streams it: in its order of events, with its ids, usage, signatures
// and reasons for stopping.
//
//	POST …/messages                               Anthropic Messages
//	POST …/chat/completions                       OpenAI Chat Completions
//	POST …/responses                              OpenAI Responses
//	POST …/models/NAME:generateContent            Google Gemini
//	POST …/models/NAME:streamGenerateContent      Google Gemini, streamed
//
// # What it checks
//
// A request that a provider would refuse is answered 400 in the provider's own
// words, and [Request.Problems] has all that is wrong with it: calls and results
// that are not paired, ids given twice, empty texts, marks for the cache that
// are too many or in the wrong place, reasoning that was changed or left out,
// arguments that are not an object, text that is not Unicode. What was sent is
// remembered by its signature, so that replaying it can be checked, across
// restarts of the server as well.
//
// # How it goes wrong
//
// A [Fault] is one way in which a provider fails; [Faults] lists them, with the
// rows of the catalogue they come from. Options give each request its fault.
// Some change the reply before it is written, some the events of its stream,
// some the bytes on their way; each of them strikes at a place that [Fault.At]
// can move. [Request.Struck] says whether it found anything to strike: half of
// a call cannot be cut off a reply without calls. Anything random follows from
// [Options.Seed].
//
// # What differs from the real thing
//
// The brain's reply is taken whole before the first byte goes out. Tokens are
// counted as bytes/4 where the brain reports no usage. Thinking is sent
// even when none is asked for. A pause is known to Anthropic only; elsewhere it is the
// end of the turn. Chat Completions send thinking as reasoning_content and want
// it back with its calls, as DeepSeek does. Google answers a wrong key with 400,
// and so does this.
package fakeprovider
