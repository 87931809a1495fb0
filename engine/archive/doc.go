// Package archive moves runs between journals by files.
//
// [Export] writes a run as lines of JSON: a head, the entries as in the log, the blobs,
// and an end. Each line has a sum that depends on all lines before it. [Import] writes
// the run to another journal.
package archive
