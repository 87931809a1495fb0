// Package guard checks texts for personal data, secrets, forbidden topics, and
// instructions planted where data belongs.
//
//	g := guard.New(
//		guard.PII(guard.Redact),
//		guard.Secrets(guard.Block),
//		guard.Topics(guard.Block, "insider trading"),
//		guard.Injection(guard.Warn),
//	)
//	agent.Policies = append(agent.Policies, g)
//
// A [Guard] is a policy and a filter. Redacted text is replaced before it
// becomes an event, so neither the model nor the log gets it; calls keep their
// place and get the redacted arguments. Blocked text stays in the log and goes
// no further: an input ends the run as failed before any model is called, a
// reply has its calls refused, a final answer is withheld and the run fails, a
// tool's result or an observation ends the run before a model reads it. A
// warning is only noted.
//
// # Detection
//
// Detection is deterministic and takes time linear in the text. It verifies
// checksums and registered lengths or prefixes where they exist; elsewhere it
// requires a form that people write. A weak sign alone (a semicolon, a
// backtick, a bare number) is not a finding.
//
// Instructions are detected by the words of known attacks. A reworded attack is
// missed, and a text about attacks is reported: the check is an alarm, not a
// barrier. Tool permissions and approvals are the barriers.
//
// # Data flow
//
// [DataFlow] is such a barrier. It does not look for attacks. Once a model has
// read untrusted text, it requires approval before the model acts on a value
// that no trusted source has named.
package guard
