package wire_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/pawl-run/pawl/internal/wire"
)

// A text has as many bytes on the wire as are counted for it, whatever it is.
func TestQuoted(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	letters := []rune("abc é漢🙂<>&\"\\\n\r\t\b\f\x01\x1f\x7f\u2028\u2029/")
	for range 2000 {
		var b strings.Builder
		for range r.IntN(40) {
			b.WriteRune(letters[r.IntN(len(letters))])
		}
		text := b.String()
		raw, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := wire.Quoted(text), len(raw)-2; got != want {
			t.Fatalf("%q has %d bytes, not %d", text, want, got)
		}
		if got := wire.QuotedText(raw); got < len(raw)-2 {
			t.Fatalf("%q has %d bytes, not %d", text, len(raw)-2, got)
		}
		plain, err := wire.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := wire.QuotedText(plain); got < len(raw)-2-3*strings.Count(text, "\u2028")-3*strings.Count(text, "\u2029") {
			t.Fatalf("%q has %d bytes, not %d", text, len(raw)-2, got)
		}
	}
	doc := []byte(`{"a":"b\n"}`)
	if got := wire.QuotedText(doc); got != wire.Quoted(string(doc)) {
		t.Errorf("an object counts %d", got)
	}
}
