// Package archive writes runs to files and reads them back, to move runs to another
// journal or to keep them after they are deleted. The commands pawl export and pawl
// import use it.
//
// [Export] writes a run as lines of JSON: a head, the entries as in the log, the
// blobs, and an end. Each line has a checksum that depends on all lines before it.
// [Import] writes the run to another journal, where it can be resumed unless
// secrets were removed from it.
package archive
