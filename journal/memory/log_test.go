package memory

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
)

// What was added is read, from wherever it is read, as a slice of copies would have it.
func TestLogKeepsWhatItIsGiven(t *testing.T) {
	var l log
	var want [][]byte
	for i := range 500 {
		for _, rec := range []string{
			fmt.Sprintf(`{"seq":%d,"time":"10:%d","type":"a","data":{"n":%d,"text":"%d, and, so, on"}}`, i, i*i, i, i%3),
			fmt.Sprintf(`{"seq":%d,"type":"b%d","data":[%s]}`, i, i%20, bytes.Repeat([]byte("1,"), i%7)),
			fmt.Sprint(i), ",", "", "no entry at all",
		} {
			l.add([]byte(rec))
			want = append(want, []byte(rec))
		}
	}
	for from := 0; from < len(want); from += 37 {
		var got [][]byte
		for from+len(got) < len(want) {
			got = append(got, l.part(uint64(from+len(got)+1)).records()...)
		}
		if !slices.EqualFunc(got, want[from:], bytes.Equal) {
			t.Fatalf("from record %d on it reads otherwise", from+1)
		}
	}
	if whole := len(bytes.Join(want, nil)); l.size > whole*2/3 {
		t.Errorf("%d bytes are kept of %d", l.size, whole)
	}
}

func FuzzDiff(f *testing.F) {
	f.Add([]byte(`{"seq":12,"at":3,"data":{"n":1}}`), []byte(`{"seq":7,"at":13,"data":{"n":2,"m":3}}`))
	f.Add([]byte(""), []byte("a,b,c"))
	f.Add([]byte("a,,b,c,d,e,f"), []byte(",a,,,bc,defg"))
	f.Fuzz(func(t *testing.T, base, rec []byte) {
		diff := appendDiff(nil, base, rec)
		if got := patch(nil, base, diff); !bytes.Equal(got, rec) {
			t.Fatalf("%q by %q is read as %q", rec, base, got)
		}
		if n := diffLen(append(bytes.Clone(diff), 1, 2, 3), len(rec)); n != len(diff) {
			t.Fatalf("of a difference of %d bytes %d are found", len(diff), n)
		}
	})
}
