package wire

import "bytes"

// Unmarked returns the content of a text file without the byte order mark that some editors put
// first.
func Unmarked(data []byte) []byte { return bytes.TrimPrefix(data, []byte("\ufeff")) }
