// Package transcript runs transcripts: text files that declare a loop, script its model and tools line by
// line, and show the log that the run wrote. The real engine runs them, on a journal in memory and
// with a simulated clock, so waiting costs no time and is exact.
//
//	# A tool that fails is data: the model reads the error and goes on.
//	agent
//	tool add read
//	----
//
//	run
//	think add{"a":1}
//	tool add -> error no such number
//	think "It failed."
//	----
//	1 run.started …
package transcript
