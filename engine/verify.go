package engine

import (
	"flag"
	"fmt"
	"os"
	"reflect"

	"github.com/pawl-run/pawl"
)

// verifying reports whether engines check, for every entry, that decoding its bytes gives
// the folded entry. They do in tests and if PAWL_VERIFY is 1; PAWL_VERIFY=0 switches it
// off. If an entry differs, its run stops with an error, and can be resumed from the entry
// before.
func verifying() bool {
	switch os.Getenv("PAWL_VERIFY") {
	case "1":
		return true
	case "0":
		return false
	}
	return flag.Lookup("test.v") != nil
}

// verify returns an error if an entry differs from its decoded encoding.
func verify(e pawl.Entry) error {
	line, err := e.AppendJSON(nil)
	if err != nil {
		return err
	}
	back, err := pawl.DecodeEntry(line)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(e, back) {
		return fmt.Errorf("entry %d of run %s is not what the log says: %+v is read from %s", e.Seq, e.Run, back, line)
	}
	return nil
}
