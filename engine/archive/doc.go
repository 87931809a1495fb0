// Package archive writes runs to files and reads them back, to move runs to another
// journal or to keep them after they are deleted. The commands pawl export and pawl
// import use it.
//
// [Export] writes a run as lines of JSON: a head, the entries as in the log, the
// blobs, and an end, which may be signed. Each line has a digest that depends on all
// entries before it. [Import] writes the run to another journal, where it can be resumed
// unless secrets were removed from it. [Verify] and [VerifyFile] report whether a run in a
// journal, or in a file, is as it was.
package archive
