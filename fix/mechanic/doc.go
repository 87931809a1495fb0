// Package mechanic is an offline, rule-based stand-in for a language model that
// repairs failing Go tests.
//
// It is not a provider, sends nothing anywhere, and understands nothing. It drives the loop of
// the test-fix agent with the tools that any model gets: it lists the failing tests and the
// lines they execute, reads the code, and tries small single edits: an operator, a bound, a
// condition, a variable. It keeps an edit after which more tests pass and none is broken. It
// knows no particular program. If a fix takes more than a few such edits, such as a missing
// function or an algorithm, it cannot find the fix, and says so. It cannot use hints, and says
// that, too. In the literature this is generate-and-validate program repair.
//
// # The search
//
// For each state of the code it tries the edits of package goedit, likeliest first, in batches:
// try_edits returns their results. It makes an edit after which every test passes, which ends
// the search. It remembers an edit that fixes a part and looks for a better one, through all
// edits of the state, unless the failing tests have no line in common, which means several
// faults; then it makes the best one, and in the next state first tries the edits that helped
// before. When the edits of a state are used up, the search returns to the previous state: an
// edit may make one test pass and be wrong. It ends when every test passes, when nothing is
// left to try, or at a number of edits; then it leaves the best state found and answers in
// text.
//
// # Stateless
//
// A reply depends only on the request: what was tried and its results are read from the
// conversation each time. So a run may be killed and resumed, replayed or forked at any point.
package mechanic
