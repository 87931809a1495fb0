// Package guard has guardrails: rules that check the texts of a run for personal
// data, secrets and forbidden topics, and a policy that follows untrusted data
// ([DataFlow]).
//
//	g := guard.New(
//		guard.PII(guard.Redact),
//		guard.Secrets(guard.Block),
//		guard.Topics(guard.Block, "insider trading"),
//	)
//	agent.Policies = append(agent.Policies, g)
//
// A [Guard] is a policy and a filter. Each rule has an [Action]:
//
//   - Redact replaces the text before it becomes an event, so neither the model
//     nor the log gets it. Calls keep their place and get redacted arguments.
//   - Block stops the text, which stays in the log. An input, a tool's result or an
//     observation ends the run as failed before a model reads it. The calls of a
//     reply are refused. A final answer is withheld, and the run fails.
//   - Warn adds a note to the log.
//   - Retry sends a reply back to the model with the reason.
//
// # Detection
//
// Detection is deterministic and takes time linear in the text. It verifies
// checksums and registered lengths or prefixes where they exist; elsewhere it
// requires a form that people write. A weak sign alone (a semicolon, a backtick,
// a bare number) is not a finding.
//
// # Data flow
//
// DataFlow is the barrier against prompt injection. It does not look for attacks,
// whose words cannot be told from those of other texts. Once a model has read
// untrusted text, it requires approval before the model acts on a value that no
// trusted source has named. The literature calls this information flow control or
// taint tracking.
package guard
