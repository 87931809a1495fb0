// Package stop is the algebra of conditions: reasons for a run to end, combined
// with and, or and not, printed as source and parsed from it.
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
// The first nine are numbers and want a comparison (== != < <= > >=). An
// unknown number, such as the cost of a model without a price, makes every
// comparison false. The last column is the leaf's outcome.
//
// # Outcomes
//
// The outcome of A || B is that of one of its true terms: the first that is a
// success; if there is none, the first with a named outcome, as in failed(EXPR);
// if there is none, the first. An answer of the model
// that ends the run as a success comes before the terms without a named
// outcome. A && holds when all its terms do. It is success if one of them is,
// else it has the first outcome of its terms; its deciding leaf is its last. A
// ! has no outcome. success(EXPR), exhausted(EXPR) and failed(EXPR) set one. A
// condition that holds without an outcome is exhausted.
//
// The ! binds before comparisons, comparisons before &&, && before ||. Both &&
// and || associate: nested ones are flattened.
//
// # Mistakes
//
// A constructor with an invalid argument, such as a bad regular expression,
// returns a condition that never holds and reports the error when its agent is
// checked; see [pawl.Checker]. The check also reports what can never hold: a
// confidence that nothing sets, a metric without a goal, a cost without a
// price, a tool the agent does not have.
package stop
