package provider

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
)

func drawn(t testing.TB, kind string, w, h int) []byte {
	t.Helper()
	var b bytes.Buffer
	var err error
	img := image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{color.Black, color.White})
	switch kind {
	case "image/png":
		err = png.Encode(&b, img)
	case "image/jpeg":
		err = jpeg.Encode(&b, img, nil)
	case "image/gif":
		err = gif.Encode(&b, img, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// webps are the beginnings of pictures of 300 by 200, one of each kind.
var webps = map[string]string{
	"lossy":    "RIFF\x30\x00\x00\x00WEBPVP8 \x24\x00\x00\x00\x30\x01\x00\x9d\x01\x2a\x2c\x01\xc8\x00",
	"lossless": "RIFF\x30\x00\x00\x00WEBPVP8L\x24\x00\x00\x00\x2f\x2b\xc1\x31\x00\x00\x00\x00\x00\x00",
	"extended": "RIFF\x30\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x10\x00\x00\x00\x2b\x01\x00\xc7\x00\x00",
}

func TestPicturesAlone(t *testing.T) {
	l := Limits{Types: []string{"image/png", "image/jpeg", "image/webp"}, Each: 4000, Side: 250}
	small := drawn(t, "image/png", 2, 3)
	for _, c := range []struct {
		name string
		p    pawl.File
		want Sent
	}{
		{"small", pawl.File{Type: "image/png", Data: small}, Sent{Type: "image/png"}},
		{"under another name", pawl.File{Type: "image/jpeg", Data: small}, Sent{Type: "image/png"}},
		{"under no name", pawl.File{Type: "", Data: drawn(t, "image/jpeg", 2, 2)}, Sent{Type: "image/jpeg"}},
		{"empty", pawl.File{Type: "image/png", Data: nil}, Sent{"image/png", "it is empty"}},
		{"of a type not taken", pawl.File{Type: "image/gif", Data: drawn(t, "image/gif", 2, 2)}, Sent{"image/gif", "the provider does not take image/gif"}},
		{"of an unknown type", pawl.File{Type: "image/x\n\xff", Data: []byte("x")}, Sent{"image/x\n\xff", "the provider does not take image/x �"}},
		{"nothing like it", pawl.File{Type: "image/png", Data: []byte("<html>")}, Sent{"image/png", "it is no image/png"}},
		{"cut off", pawl.File{Type: "image/png", Data: small[:20]}, Sent{"image/png", "its header cannot be read"}},
		{"too long", pawl.File{Type: "image/png", Data: append(small[:len(small):len(small)], make([]byte, 5000)...)}, Sent{"image/png", "0.0 MB in base64, and the provider takes 0.0 MB"}},
		{"too wide", pawl.File{Type: "image/png", Data: drawn(t, "image/png", 251, 1)}, Sent{"image/png", "251 pixels wide or high, and the provider takes 250"}},
	} {
		if got := l.Fit([]pawl.File{c.p})[0]; got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
	for kind, data := range webps {
		got := l.Fit([]pawl.File{{Type: "image/png", Data: []byte(data)}})[0]
		if want := (Sent{"image/webp", "300 pixels wide or high, and the provider takes 250"}); got != want {
			t.Errorf("webp, %s: %+v", kind, got)
		}
		if c, ok := webp([]byte(data)); !ok || c.Width != 300 || c.Height != 200 {
			t.Errorf("webp, %s: %+v", kind, c)
		}
	}
	if got := (Limits{}).Fit([]pawl.File{{Type: "image/svg+xml", Data: []byte("<svg/>")}})[0]; got != (Sent{Type: "image/svg+xml"}) {
		t.Errorf("without limits: %+v", got)
	}
}

// left says which of n pictures are sent.
func left(l Limits, n int, p pawl.File) string {
	var b strings.Builder
	all := make([]pawl.File, n)
	for i := range all {
		all[i] = p
	}
	for _, s := range l.Fit(all) {
		if s.Why == "" {
			b.WriteByte('+')
		} else {
			b.WriteByte('-')
		}
	}
	return b.String()
}

func TestTheOldestPicturesAreLeftOut(t *testing.T) {
	p := pawl.File{Type: "image/png", Data: drawn(t, "image/png", 8, 8)}
	each := encoded(p)
	for _, c := range []struct {
		name string
		l    Limits
		n    int
		want string
	}{
		{"as many as there may be", Limits{Count: 8}, 8, "++++++++"},
		{"one more", Limits{Count: 8}, 9, "--+++++++"},
		{"two more", Limits{Count: 8}, 10, "--++++++++"},
		{"three more", Limits{Count: 8}, 11, "----+++++++"},
		{"as much as there may be", Limits{Total: 8 * each}, 8, "++++++++"},
		{"a little more", Limits{Total: 9*each - 1}, 9, "---++++++"},
		{"more by one", Limits{Total: 8 * each}, 9, "--+++++++"},
		{"all too large together", Limits{Total: each - 1}, 2, "--"},
		{"both", Limits{Count: 4, Total: 3 * each}, 5, "---++"},
		{"too wide for many", Limits{Many: 3, ManySide: 7}, 3, "+++"},
		{"too wide for more", Limits{Many: 3, ManySide: 7}, 4, "----"},
	} {
		if got := left(c.l, c.n, p); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// Whatever the pictures, what is sent keeps to the limits, and the newest that
// could be sent alone goes before older ones.
func FuzzFit(f *testing.F) {
	f.Add([]byte{1, 9, 200, 3}, 3, 900, 2)
	f.Add([]byte{1}, 0, 0, 0)
	f.Fuzz(func(t *testing.T, lengths []byte, count, total, many int) {
		l := Limits{Each: 300, Count: max(0, count), Total: max(0, total), Many: max(0, many), ManySide: 3}
		head := drawn(t, "image/png", 4, 4)
		var all []pawl.File
		for _, n := range lengths {
			all = append(all, pawl.File{Type: "image/png", Data: append(head[:len(head):len(head)], make([]byte, n)...)})
		}
		sent, bytes := 0, 0
		for i, s := range l.Fit(all) {
			if s.Why == "" {
				sent++
				bytes += encoded(all[i])
				if encoded(all[i]) > l.Each {
					t.Errorf("picture %d has %d bytes", i, encoded(all[i]))
				}
			}
		}
		if l.Count > 0 && sent > l.Count || l.Total > 0 && bytes > l.Total || l.Many > 0 && sent > l.Many {
			t.Errorf("%d pictures of %d bytes within %+v", sent, bytes, l)
		}
	})
}

func FuzzMeasure(f *testing.F) {
	for _, d := range webps {
		f.Add([]byte(d))
	}
	f.Add(drawn(f, "image/gif", 1, 1))
	f.Fuzz(func(t *testing.T, data []byte) {
		if c, kind, err := measure(data); err == nil && (c.Width < 0 || c.Height < 0 || kind == "image/") {
			t.Errorf("%+v, %s", c, kind)
		}
	})
}
