// Package stop has the conditions that end a run. They combine with and, or and
// not, print as source, and are parsed from it.
//
//	stop.Any(
//		stop.All(stop.ToolCalled("submit_po"), stop.Confidence(0.9)),
//		stop.Iterations(10),
//	)
//
// prints as, and is parsed from,
//
//	tool_called("submit_po") && confidence >= 0.9 || iterations >= 10
//
// An agent's condition (pawl.Agent.Stop) comes on top of its pawl.Limits, which
// always apply. To end runs that repeat themselves, use package progress.
//
// # Leaves
//
// A leaf is a condition without parts. It has a value or holds when:
//
//	iterations   number of turns whose calls are all answered    exhausted
//	tokens       number of tokens used                           exhausted
//	cost         dollars spent                                   exhausted
//	elapsed      running time, as in elapsed > 1h30m             exhausted
//	tool_calls   number of calls that ran                        exhausted
//	tool_errors  number of turns in a row without a successful call   no_progress
//	confidence   the latest confidence, 0 to 1                   success
//	metric       the goal's latest value                         success
//	user_said("REGEX")            number of texts by people that match   success
//	done                          the latest turn is a final answer      success
//	tool_called("NAME")           a call of the tool succeeded           success
//	tool_called("NAME", args.x == 1)   a call with such arguments succeeded   success
//	text_matches("REGEX")         the latest reply's text matches        success
//	when("NAME")                  a function of the program returns true success
//	stalled(N)                    N turns in a row repeated the one before    no_progress
//
// The last column is the outcome: the status that the leaf gives the run. The first
// nine leaves are numbers and need a comparison (== != < <= > >=). An unknown
// number, such as the cost of a model without a price, makes every comparison
// false.
//
// # Outcomes
//
// A condition that holds ends the run with its outcome. A condition without one,
// such as a negation, ends it as exhausted. success(EXPR), exhausted(EXPR) and
// failed(EXPR) set the outcome; it is then named.
//
//	!A      has no outcome
//	A && B  is success if a term is; else it has the first outcome of its terms.
//	        The last term is the deciding leaf.
//	A || B  has the outcome of one of its true terms: the first success; else the
//	        first with a named outcome; else the first
//
// A final answer of the model that ends the run as a success takes precedence over
// terms without a named outcome.
//
// The ! binds before comparisons, comparisons before &&, && before ||. Both && and
// || associate: nested ones are flattened.
//
// # Mistakes
//
// A constructor with an invalid argument, such as a bad regular expression, returns
// a condition that never holds and reports the error when its agent is checked; see
// [pawl.Checker]. The check also reports what can never hold: a confidence that
// nothing sets, a metric without a goal, a cost without a price, a tool the agent
// does not have.
package stop
