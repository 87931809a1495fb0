package wire

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func decodeDirect(doc string) (everything, error) {
	var e everything
	err := Decode([]byte(doc), func(c *Coder) {
		e = everything{}
		e.code(c)
	})
	return e, err
}

// TestDirect counts how often a document is gone over: once as it was written,
// twice in any other form.
func TestDirect(t *testing.T) {
	e := full()
	written, err := encode(&e)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		doc   string
		times int
	}{
		{written, 1},
		{`{"s":"x","i":1}`, 1},
		{`{"i":1,"s":"x"}`, 2},
		{`{"s":"x" ,"i":1}`, 2},
		{`{"s":"x","i":1,"unknown":[1]}`, 2},
		{`{"s":"x","s":"y"}`, 2},
		{`{"sm":{"a":"b""c":"d"}}`, 2},
		{`{"sm":{"a":"b","c":"d",}}`, 2},
		{`{"ss":["a",]}`, 2},
		{`{"s":"x",}`, 2},
		{`{,"s":"x"}`, 2},
		{`{"s":"x"}}`, 2},
		{`{"s":"x"`, 2},
	} {
		times := 0
		_ = Decode([]byte(tc.doc), func(c *Coder) {
			times++
			var e everything
			e.code(c)
		})
		if times != tc.times {
			t.Errorf("%s: read %d times, want %d", tc.doc, times, tc.times)
		}
	}
}

// FuzzDirect: read direct or not, a document says the same.
func FuzzDirect(f *testing.F) {
	e := full()
	written, _ := encode(&e)
	f.Add(written)
	f.Add(strings.Replace(written, ":", " :", 1))
	f.Add(`{"s":null,"n":null,"sm":{"a":"b""c":"d"},"ss":[1],"p":{"sub":{"name":"a"}}}`)
	f.Add(`{"ps":[{"name":"a"},{"name":"b","tags":[]},null],"sm":{"a":"\ud800","a":"c"}}`)
	f.Add(`{"p":` + strings.Repeat(`{"name":"","sub":`, 1200) + `{"name":""}` + strings.Repeat("}", 1201))
	f.Fuzz(func(t *testing.T, doc string) {
		want, wantErr := decode(doc)
		got, gotErr := decodeDirect(doc)
		if wantErr != nil || gotErr != nil {
			if wantErr == nil || gotErr == nil || wantErr.Error() != gotErr.Error() {
				t.Fatalf("%s: %v direct, %v else", doc, gotErr, wantErr)
			}
			return
		}
		if d := cmp.Diff(want, got, cmp.Comparer(func(a, b float64) bool { return a == b || a != a && b != b })); d != "" {
			t.Fatalf("%s (-else +direct):\n%s", doc, d)
		}
	})
}
