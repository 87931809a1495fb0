// Package mechanic is an offline, rule-based stand-in for a language model that
// repairs failing Go tests.
//
// It is no provider, sends nothing to anybody, and understands nothing. It drives
// the loop of the test-fix agent through the tools that any model is offered:
// it asks which tests fail and which lines they execute, reads the code, and
// tries small single edits: an operator, a bound, a condition, a variable. It
// keeps an edit after which more tests pass and none is broken. It knows nothing
// of any program. What takes more than a few such edits, a missing function, an
// algorithm, is beyond it, and it says so.
//
// # The search
//
// For each state of the code the edits of package goedit are tried, likeliest
// first, a batch at a time: try_edits tells what came of each. One after which
// every test passes is made and ends the search. One that mends a part is
// remembered while better is looked for, through all the edits there are, unless
// the failing tests have no line in common, which is to say several faults; then
// the best is made, and in the state after it those that helped before are tried
// first. When the edits of a
// state are used up, the search goes back to the one before: an edit may make
// one test pass and be wrong. It ends when every test passes, when nothing is
// left to try, or at a number of edits; then it leaves the best state it has
// found and answers in text.
//
// # Stateless
//
// A reply depends on nothing but the request: what was tried and what came of
// it is read from the conversation each time. So a run may be killed and
// resumed, replayed or forked at any point.
package mechanic
