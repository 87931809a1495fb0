// Package guard keeps texts within bounds: personal data, secrets, topics that
// are not to be talked about, and instructions that somebody has put where data
// belongs.
//
//	g := guard.New(
//		guard.PII(guard.Redact),
//		guard.Secrets(guard.Block),
//		guard.Topics(guard.Block, "insider trading"),
//		guard.Injection(guard.Warn),
//	)
//	agent.Policies = append(agent.Policies, g)
//
// A [Guard] is a policy and a filter in one. What it is to redact is replaced
// before a text becomes an event, so that neither the model nor the log has it;
// calls keep their place and get the redacted arguments. What it is to block
// stays in the log and goes no further: an input ends the run as failed before
// any model is called, a reply has its calls refused, a final answer is withheld
// and the run failed, a tool's result or an observation ends the run before a
// model reads it. What it is to warn of is noted and nothing else.
//
// # What is found
//
// Finding is deterministic and takes time in proportion to the text. Where
// there is a checksum it is computed, where there is a registry of lengths or
// prefixes it is asked, and where there is neither, the form must be such as
// people write. What is no more than a sign of something (a semicolon, a
// backtick, a bare number) is nothing.
//
// Instructions are found by the words of known attacks. Who words his attack
// anew is not found, and who writes about attacks is: such a guard is a bell and
// no wall. The walls are what a tool may do and who has to approve it.
//
// # Data flow
//
// [DataFlow] is such a wall. It does not look for attacks: it has a person asked
// before a model that has read what anybody may have written does something with
// a value that nobody who is trusted has named.
package guard
