// Package stop is the algebra of conditions: reasons for a run to end, put
// together with and, or and not, printed as source and read back from it.
//
//	stop.Any(
//		stop.All(stop.ToolCalled("submit_po"), stop.Confidence(0.9)),
//		stop.Iterations(10),
//	)
//
// prints, and is what [Parse] makes of,
//
//	tool_called("submit_po") && confidence >= 0.9 || iterations >= 10
//
// # Leaves
//
//	iterations   turns whose calls are all answered    exhausted
//	tokens       tokens used                           exhausted
//	cost         dollars spent                         exhausted
//	elapsed      time run, as in elapsed > 1h30m       exhausted
//	tool_calls   calls that ran                        exhausted
//	tool_errors  failing tool turns in a row           no_progress
//	confidence   the latest, 0 to 1                    success
//	metric       the goal's latest value               success
//	user_said("REGEX")            how often a person's text matched    success
//	done                          the model answered                   success
//	tool_called("NAME")           a call of the tool succeeded         success
//	tool_called("NAME", args.x == 1)   one with such arguments did     success
//	text_matches("REGEX")         the latest reply's text does         success
//	when("NAME")                  a function of the program says so    success
//	stalled(N)                    N turns repeated the one before      no_progress
//
// The first nine are numbers and want a comparison (== != < <= > >=); one that
// is not known, such as the cost of a model without a price, compares false
// whatever the comparison. The last column is the leaf's outcome.
//
// # Outcomes
//
// A || takes its first true term whose outcome is success, else the first
// whose outcome is named, as in failed(EXPR), else the first. Before the rest,
// an answer of the model ends the run as a success.
// A && holds when all its terms do; it is success if one of them is, else has
// the outcome of the first that has one, and its deciding leaf is its last. A
// ! has no outcome. success(EXPR), exhausted(EXPR) and failed(EXPR) give one. A
// condition that holds without an outcome is exhausted.
//
// The ! binds before comparisons, comparisons before &&, && before ||. Both &&
// and || associate, so nested ones are one.
//
// # Mistakes
//
// A constructor given a bad regular expression or the like returns a condition
// that never holds and says what is wrong when its agent is checked; see
// [pawl.Checker]. There a condition also objects to what can never hold: a
// confidence that nothing sets, a metric without a goal, a cost without a
// price, a tool the agent does not have.
package stop
