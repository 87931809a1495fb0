// Package fakeprovider is an HTTP server that imitates the APIs of model providers and fails on
// demand, for testing agents and model adapters.
//
// A [Server] answers with the replies of any [pawl.Model], its brain: a script, a function,
// another provider. It reads a request in the format of its API, checks it as strictly as the
// provider would, asks the brain, and writes the reply as that provider streams it: with its
// order of events, ids, usage, signatures and stop reasons.
//
//	POST …/messages                               Anthropic Messages
//	POST …/chat/completions                       OpenAI Chat Completions
//	POST …/responses                              OpenAI Responses
//	POST …/models/NAME:generateContent            Google Gemini
//	POST …/models/NAME:streamGenerateContent      Google Gemini, streamed
//
// # What it checks
//
// A request that a provider would refuse gets status 400 and the provider's own words.
// [Request.Problems] has everything that is wrong with it: calls and results that are not paired,
// repeated ids, empty texts, cache marks that are too many or in the wrong place, reasoning that
// was changed or left out, arguments that are not an object, text that is not Unicode. Reasoning
// carries a signature, so a server that was restarted checks it as well.
//
// A model takes what Pawl's model sheet says that it takes: sampling, how and how hard it
// thinks, a forced tool, the longest reply. Where a model of Anthropic
// binds its thinking, that is refused behind another system prompt, other tools or other
// messages. An OpenAI model refuses tools beside thinking in Chat Completions. [Options.Plays]
// names the model whatever the requests name. A name that the sheet does not know is the
// provider's model of today, or at OpenAI one of a compatible server, which takes everything.
//
// # Faults
//
// A [Fault] is one way in which a provider fails; [Faults] lists them. Options give each request
// its fault. Some faults change the reply before it is written, some the events of its stream,
// some the bytes. Each applies at a certain place, which [Fault.At] moves. [Request.Struck] says
// whether the reply had such a place: half of a call cannot be cut off a reply without calls.
// Everything random follows from [Options.Seed].
//
// # Differences from a provider
//
//   - The server has the brain's whole reply before it sends the first byte.
//   - Tokens are counted as bytes/4 if the brain reports no usage. Claude then counts what it
//     reads from its cache and writes into it, too; the cache never forgets.
//   - Thinking is sent even when the request does not ask for it, but at Google; in Responses its
//     words are, if the request asks for a summary. Claude sends none if the request turns it off,
//     and a signature without a text where a model shows no more.
//   - It runs no tools itself.
//   - A pause exists at Anthropic only; elsewhere it is the end of the turn.
//   - Chat Completions send thinking as reasoning_content and want it back with its calls, as
//     DeepSeek does.
package fakeprovider
