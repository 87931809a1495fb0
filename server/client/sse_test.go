package client

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// Whatever bytes come and however they are cut into pieces, the frames are the
// same, none is larger than allowed, and none is made up of a part of one.
func FuzzFrames(f *testing.F) {
	f.Add("id: 1\nevent: x\ndata: a\ndata: b\n\n:\n\nretry: 10\n\n")
	f.Add("data: a\r\n\r\ndata\n\ndata: half\n")
	f.Fuzz(func(t *testing.T, text string) {
		const most = 64
		read := func(in io.Reader) (all []frame, err error) {
			fr := framesOf(in, most)
			for {
				one, err := fr.next()
				if err != nil {
					return all, err
				}
				if len(one.data) > most {
					t.Fatalf("a frame of %d bytes", len(one.data))
				}
				all = append(all, one)
			}
		}
		whole, err := read(strings.NewReader(text))
		pieces, err2 := read(iotest.OneByteReader(strings.NewReader(text)))
		if len(whole) != len(pieces) || !errors.Is(err2, err) {
			t.Fatalf("%d frames and %v, in pieces %d and %v", len(whole), err, len(pieces), err2)
		}
		for i := range whole {
			if string(whole[i].data) != string(pieces[i].data) || whole[i].event != pieces[i].event {
				t.Fatalf("frame %d is %q, in pieces %q", i, whole[i].data, pieces[i].data)
			}
		}
		lf := strings.ReplaceAll(text, "\r\n", "\n")
		if err == io.EOF && strings.Trim(lf, "\r") != "" && !strings.HasSuffix("\n"+lf, "\n\n") && !strings.HasSuffix("\n"+lf, "\n\r") {
			t.Fatalf("%q ends within a frame, which was not noticed", text)
		}
	})
}
