// Package mechanic is an offline, rule-based stand-in for a language model that
// repairs failing Go tests.
//
// It is no provider, sends nothing to anybody, and understands nothing. It drives
// the loop of the test-fix agent through the tools that any model is offered:
// it asks which tests fail and where, reads the code that they reach, and tries
// small single edits, one at a time: an operator, a bound, a condition, a
// constant. It keeps an edit after which more tests pass and none is broken,
// and takes back every other. It knows nothing of any program. What takes more
// than a few such edits, a missing function, a build failure, is beyond it,
// and it says so.
//
// # The search
//
// For each state of the code the edits of package goedit are tried, likeliest
// first, until one mends a test without harm. That state is the next one to
// search. When its edits are used up, the search goes back to the state before
// and on with the edits left there: an edit may make one test pass and be wrong.
// It ends when every test passes, when nothing is left to try, or at a number
// of edits; then it leaves the best state it has found and answers in text.
//
// # Stateless
//
// A reply depends on nothing but the request: what was tried and what came of
// it is read from the conversation each time. So a run may be killed and
// resumed, replayed or forked at any point.
package mechanic
