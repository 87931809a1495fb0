package wire

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCanonical(t *testing.T) {
	for in, want := range map[string]string{
		` { "b" : 1 , "a" : [ true , null , { } , [ ] ] } `:              `{"a":[true,null,{},[]],"b":1}`,
		`[1,1.0,1e0,1E+0,-0,0.10,123456789012345678901234567890]`:        `[1,1.0,1e0,1E+0,-0,0.10,123456789012345678901234567890]`,
		`"\u0041\/\u00e9\ud83d\ude00\u2028<&>"`:                          `"A/é😀\u2028<&>"`,
		`"\u0000\u001F\u0008\u000c\u000A\u000d\u0009\u0022\u005c\u007f"`: `"\u0000\u001f\b\f\n\r\t\"\\` + "\x7f" + `"`,
		`{"z":{"y":1,"x":2},"a":{"d":{"c":1,"b":2},"a":3}}`:              `{"a":{"a":3,"d":{"b":2,"c":1}},"z":{"x":2,"y":1}}`,
		`{"a\n":1,"a ":2,"a":3,"a\\":4,"a\u0000":5,"aZ":6}`:              `{"a":3,"a\u0000":5,"a\n":1,"a ":2,"aZ":6,"a\\":4}`,
		`{"\uffff":1,"\ud83d\ude00":2}`:                                  "{\"\uffff\":1,\"😀\":2}", // UTF-16 would put it the other way
		`{"":0}`:                                                         `{"":0}`,
	} {
		got, err := Canonical([]byte(in))
		if err != nil || string(got) != want {
			t.Errorf("%s\n got %s (%v)\nwant %s", in, got, err, want)
		}
	}
}

func TestCanonicalFaults(t *testing.T) {
	for in, want := range map[string]string{
		``:                      `unexpected end of JSON input at offset 0`,
		`{"a":1,"b":2,"a":3}`:   `property "a" is given twice, give it once at offset 13`,
		`{"a":1,"\u0061":1}`:    `property "a" is given twice, give it once at offset 7`,
		`[{"\n":1,"\u000a":1}]`: `property "\n" is given twice, give it once at offset 9`,
		`[1,2] 3`:               `invalid character '3' after top-level value at offset 6`,
		"\"a\xff\"":             `the text is not valid UTF-8 at offset 2`,
		"\"\xed\xa0\x80\"":      `the text is not valid UTF-8 at offset 1`,
		`"x\ud83d"`:             `a \u escape is an unpaired surrogate at offset 2`,
		`"\ud83d\u0041"`:        `a \u escape is an unpaired surrogate at offset 1`,
		`"\ude00\ud83d"`:        `a \u escape is an unpaired surrogate at offset 1`,
		`"\ud83d\n"`:            `a \u escape is an unpaired surrogate at offset 1`,
	} {
		_, err := Canonical([]byte(in))
		if e, ok := errors.AsType[*Error](err); !ok || e.Error() != want {
			t.Errorf("%s\n got %v\nwant %s", in, err, want)
		}
	}
}

func TestCanonicalDepth(t *testing.T) {
	nested := func(n int) []byte {
		return []byte(strings.Repeat(`[{"a":`, n/2) + "0" + strings.Repeat("}]", n/2))
	}
	if _, err := Canonical(nested(MaxDepth)); err != nil {
		t.Error(err)
	}
	_, err := Canonical(nested(MaxDepth + 2))
	if want := "nested deeper than 1000 objects and arrays at offset 3000"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestEqual(t *testing.T) { // Promises: L4.
	different := []string{`1`, `1.0`, `1e0`, `"1"`, `true`, `null`, `{}`, `[]`, `{"a":1}`, `{"a":1.0}`}
	for i, a := range different {
		for j, b := range different {
			if got := Equal([]byte(a), []byte(" "+b+"\n")); got != (i == j) {
				t.Errorf("%s and %s: equal is %v", a, b, got)
			}
		}
	}
	if Equal([]byte(`{`), []byte(`{`)) {
		t.Error("what is not JSON equals itself")
	}
}

func TestDigest(t *testing.T) {
	want := fmt.Sprintf("%x", sha256.Sum256([]byte("\x00\x00\x00\x00\x00\x00\x00\x02ab\x00\x00\x00\x00\x00\x00\x00\x00")))
	if got := Digest([]byte("ab"), nil); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	// The empty digest is SHA-256 of nothing, as FIPS 180-4 has it.
	if got := Digest(); got != "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" {
		t.Errorf("of nothing: %s", got)
	}
	seen := map[string][]string{}
	for _, parts := range [][]string{{}, {""}, {"", ""}, {"ab"}, {"a", "b"}, {"", "ab"}, {"ab", ""}} {
		var raw [][]byte
		for _, p := range parts {
			raw = append(raw, []byte(p))
		}
		d := Digest(raw...)
		if other, ok := seen[d]; ok {
			t.Errorf("%q and %q have the same digest", parts, other)
		}
		seen[d] = parts
	}
}

func TestLargeObject(t *testing.T) {
	var keys []string
	for i := range 5000 {
		keys = append(keys, fmt.Sprintf("%q:%d", fmt.Sprint("k", i*7919%5000), i))
	}
	in := "{" + strings.Join(keys, ",") + "}"
	slices.SortFunc(keys, func(a, b string) int {
		return strings.Compare(a[:strings.Index(a, `":`)], b[:strings.Index(b, `":`)])
	})
	got, err := Canonical([]byte(in))
	if want := "{" + strings.Join(keys, ",") + "}"; err != nil || string(got) != want {
		t.Errorf("%v\n got %.100s\nwant %.100s", err, got, want)
	}
}

// faulty tells by tokens what encoding/json accepts and we do not.
func faulty(doc []byte) bool {
	type open struct {
		keys map[string]bool
		key  bool
	}
	var stack []open
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	for {
		tok, err := dec.Token()
		if err == io.EOF {
			return false
		}
		if d, ok := tok.(json.Delim); ok && (d == '}' || d == ']') {
			stack = stack[:len(stack)-1]
			continue
		}
		if n := len(stack); n > 0 && stack[n-1].keys != nil {
			top := &stack[n-1]
			top.key = !top.key
			if top.key {
				if top.keys[tok.(string)] {
					return true
				}
				top.keys[tok.(string)] = true
			}
		}
		switch tok {
		case json.Delim('{'):
			stack = append(stack, open{keys: map[string]bool{}})
		case json.Delim('['):
			stack = append(stack, open{})
		}
		if len(stack) > MaxDepth {
			return true
		}
	}
}

func decoded(t *testing.T, doc []byte) (v any) {
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%s: %v", doc, err)
	}
	return v
}

func FuzzCanonical(f *testing.F) {
	for _, s := range []string{`{"b":[1,-0.5e+7],"a":"\ud83d\ude00\n\u0000"}`, `{"a":1,"\u0061":2}`, `"\ud800"`, `"\u"`, "\"\xff\"", `[{"b\n":1,"b ":{}},"\/"]`, ` 1 `,
		strings.Repeat("[", 1001) + strings.Repeat("]", 1001)} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		got, err := Canonical(doc)
		if !json.Valid(doc) {
			if err == nil {
				t.Fatalf("accepted, encoding/json does not: %s", got)
			}
			return
		}
		if err != nil {
			// encoding/json repairs bad text into U+FFFD, so its tokens hold one.
			text := strings.Contains(err.Error(), "surrogate") || strings.Contains(err.Error(), "UTF-8")
			if text && !strings.Contains(fmt.Sprint(decoded(t, doc)), "\uFFFD") && !faulty(doc) || !text && !faulty(doc) {
				t.Fatalf("refused: %v", err)
			}
			return
		}
		if faulty(doc) {
			t.Fatalf("accepted a key twice or too deep a nesting: %s", got)
		}
		if d := cmp.Diff(decoded(t, doc), decoded(t, got)); d != "" {
			t.Fatalf("means another thing:\n%s", d)
		}
		again, err := Canonical(got)
		if err != nil || !bytes.Equal(again, got) {
			t.Fatalf("%v\nonce  %s\ntwice %s", err, got, again)
		}
		// What Go writes of the same value, keys sorted its way, is the same.
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetIndent(" ", "\t")
		if err := enc.Encode(decoded(t, doc)); err != nil {
			t.Fatal(err)
		}
		if again, err = Canonical(b.Bytes()); err != nil || !bytes.Equal(again, got) {
			t.Fatalf("by way of encoding/json: %v\n got %s\nwant %s", err, again, got)
		}
	})
}

// TestWithout: members are left out of an object, and nothing else changes.
func TestWithout(t *testing.T) {
	for object, want := range map[string]string{`{"a":1,"b":{"a":2},"c":1.0}`: `{"b":{"a":2},"c":1.0}`, `[1]`: `[1]`, `{"b":null}`: `{"b":null}`} {
		if got := Without([]byte(object), []string{"a", "d"}); !Equal(got, []byte(want)) {
			t.Errorf("%s becomes %s, want %s", object, got, want)
		}
	}
}
