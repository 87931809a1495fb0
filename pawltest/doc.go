// Package pawltest is the kit for testing what is built on pawl.
//
// [RunFiles] runs transcripts: text files in which a loop is declared, its
// model and tools are scripted line by line, and the log it wrote stands below
// for everybody to read. They are run by the real engine, on a journal in
// memory, under a clock of their own: waiting costs nothing and is exact.
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
//
// [Check] watches any model and complains about a request that no provider
// would accept.
package pawltest
