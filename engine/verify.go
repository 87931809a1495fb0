package engine

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"time"

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

// verify returns an error that names where an entry differs from its decoded encoding.
func verify(e pawl.Entry) error {
	line, err := e.AppendJSON(nil)
	if err != nil {
		return err
	}
	back, err := pawl.DecodeEntry(line)
	if err != nil {
		return err
	}
	if at := difference(reflect.ValueOf(e), reflect.ValueOf(back)); at != "" {
		return fmt.Errorf("entry %d of run %s is not what the log says: %s differs in %s", e.Seq, e.Run, at[1:], line)
	}
	return nil
}

// difference returns the path of the first deep difference between two values of one type.
func difference(a, b reflect.Value) string {
	if reflect.DeepEqual(a.Interface(), b.Interface()) {
		return ""
	}
	switch _, leaf := reflect.TypeAssert[time.Time](a); {
	case leaf:
	case a.Kind() == reflect.Struct:
		for i := range a.NumField() {
			if at := difference(a.Field(i), b.Field(i)); at != "" {
				return "." + a.Type().Field(i).Name + at
			}
		}
	case a.Kind() == reflect.Slice && a.Len() == b.Len() && a.Type().Elem().Kind() != reflect.Uint8:
		for i := range a.Len() {
			if at := difference(a.Index(i), b.Index(i)); at != "" {
				return "[" + strconv.Itoa(i) + "]" + at
			}
		}
	case (a.Kind() == reflect.Interface || a.Kind() == reflect.Pointer) && !a.IsNil() && !b.IsNil() && a.Elem().Type() == b.Elem().Type():
		return difference(a.Elem(), b.Elem())
	}
	return " (" + a.Type().String() + ")"
}
