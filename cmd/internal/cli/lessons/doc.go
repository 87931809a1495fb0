// Package lessons holds nothing but tests. Each takes a fault that was found in
// one of the systems Pawl learnt from, and shows that Pawl does not have it. A
// test is named for the system and the number the fault was filed under:
//
//	go test ./cmd/internal/cli/lessons -v -run 'TestTightloop/W10'
//
// tightloop has W1 to W20, dendrux E1 to E25 (the ones that were seen by running
// it), and locus the sections 1.4 and 3 to 5, with E and a number where that was
// seen by running it, too. Beside them stand the tests of cancelling: by other
// processes, by signals, and by contexts.
//
// What Pawl does not have yet can have no fault yet. These come with it:
//
//   - tightloop W7, and of W16 what bounds a prompt before a provider finds it
//     too long: summaries and windows, issue 8.
//   - dendrux E16 where it is about chat histories: threads, issue 6.
//   - locus 1.4 where it is about telemetry, and 3.1 where it is about the events
//     of specialists and hand-offs: with the packages telemetry and team.
//   - locus 4 where a model is to read on in a result that was cut: issue 8.
package lessons
