package cli_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// breakable are the encodings from which on lines are broken at will.
const breakable = 3

// encodings are the ways in which a value is said.
func encodings(value string) (all []string) {
	quoted, _ := json.Marshal(value)
	all = append(all, value, string(quoted), url.QueryEscape(value), hex.EncodeToString([]byte(value)))
	for _, before := range []string{"", "x", "xy"} {
		data := []byte(before + value + "\n")
		all = append(all, base64.StdEncoding.EncodeToString(data), base64.URLEncoding.EncodeToString(data))
	}
	return all
}

// leak says what CANARY is, and whether it was handed the value: on stdout, or
// with `leak fail` on stderr.
func leak(args []string) error {
	var given struct {
		Token string `json:"token"`
	}
	if err := json.NewDecoder(os.Stdin).Decode(&given); err != nil {
		return err
	}
	value := os.Getenv("CANARY")
	var text strings.Builder
	fmt.Fprintf(&text, "given: %v\n", given.Token == value)
	for i, e := range encodings(value) {
		text.WriteString(e[:len(e)/2])
		if i >= breakable {
			text.WriteByte('\n') // as base64 and xxd break their lines
		}
		text.WriteString(e[len(e)/2:] + "\n")
	}
	if len(args) > 0 {
		return errors.New(text.String())
	}
	fmt.Print(text.String())
	return nil
}

// nowhere VALUE FILE… fails where a value, or what no encoding of it can be
// without, is in one of the files.
func nowhere(ts *testscript.TestScript, neg bool, args []string) {
	found := false
	for _, pattern := range args[1:] {
		files, err := filepath.Glob(ts.MkAbs(pattern))
		ts.Check(err)
		if len(files) == 0 {
			ts.Fatalf("there is no %s", pattern)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			ts.Check(err)
			text := strings.NewReplacer("\n", "", `\n`, "", `\r`, "").Replace(string(data))
			for _, e := range encodings(args[0]) {
				if middle := e[len(e)/4 : len(e)-len(e)/4]; strings.Contains(text, middle) || strings.Contains(string(data), middle) {
					if found = true; !neg {
						ts.Fatalf("%s holds %s", filepath.Base(file), middle)
					}
				}
			}
		}
	}
	if neg && !found {
		ts.Fatalf("none of %s holds %s", strings.Join(args[1:], " "), args[0])
	}
}
