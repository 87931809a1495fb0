package sqlite

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/ncruces/go-sqlite3/vfs"
)

// plainFile is a file with the little that a log needs.
type plainFile struct {
	vfs.File // nil: what is not below is not called

	f *os.File
}

func (p plainFile) ReadAt(b []byte, off int64) (int, error)  { return p.f.ReadAt(b, off) }
func (p plainFile) WriteAt(b []byte, off int64) (int, error) { return p.f.WriteAt(b, off) }
func (p plainFile) Truncate(size int64) error                { return p.f.Truncate(size) }
func (p plainFile) Sync(vfs.SyncFlag) error                  { return nil }
func (p plainFile) Close() error                             { return p.f.Close() }

// TestHeldBack writes frames, lone headers and other things in any order, and
// checks that nobody can see that they are held back: after every call but that
// of an appended header, or of a frame that is not the last one of a transaction
// that commits, the file is as if each write had gone through.
func TestHeldBack(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	path := filepath.Join(t.TempDir(), "wal")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := &wal{file: file{plainFile{f: f}}}
	var want []byte
	write := func(size int, off int64) {
		p := make([]byte, size)
		for i := range p {
			p[i] = byte(rnd.Uint32())
		}
		if size == frameHeader && rnd.IntN(3) > 0 { // it is not the last of its transaction
			copy(p[4:8], make([]byte, 4))
		}
		if n, err := w.WriteAt(p, off); n != size || err != nil {
			t.Fatal(n, err)
		}
		if end := int(off) + size; end > len(want) {
			want = append(want, make([]byte, end-len(want))...)
		}
		copy(want[off:], p)
	}
	frames, held, gathered, dropped := 0, 0, 0, 0
	for range 8000 {
		at := int64(len(want))
		switch rnd.IntN(13) {
		case 0:
			write(32, 0)
		case 1: // a header that is corrected
			write(frameHeader, rnd.Int64N(at+1))
		case 2: // a page that is replaced
			write(100, rnd.Int64N(at+1))
		case 3: // a header whose page does not come
			write(frameHeader, at)
			held++
			if err := w.Sync(0); err != nil {
				t.Fatal(err)
			}
		case 4:
			write(frameHeader, at)
			if _, err := w.ReadAt(make([]byte, 1), 0); err != nil {
				t.Fatal(err)
			}
		case 5:
			if rnd.IntN(20) == 0 { // the log starts again
				want = want[:0]
				if err := w.Truncate(0); err != nil {
					t.Fatal(err)
				}
				write(32, 0)
			}
		case 6: // a transaction begins to commit, or has failed to
			dropped += len(w.held)
			want = want[:len(want)-len(w.held)]
			w.commit(!w.committing)
		default:
			write(frameHeader, at)
			if w.header {
				frames++
			}
			write(100, at+frameHeader)
		}
		gathered = max(gathered, len(w.held))
		switch {
		case w.header && rnd.IntN(2) == 0:
			continue // its page may still come
		case w.committing && len(w.held) > 0 && rnd.IntN(50) > 0:
			continue // the last frame may still come
		case !w.committing && !w.header && len(w.held) > 0:
			t.Fatalf("%d bytes are held back for nothing", len(w.held))
		}
		if err := w.flush(); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("the file has %d bytes, not the %d that were written, or others", len(got), len(want))
		}
	}
	if frames < 1000 || held == 0 || gathered < 3*(frameHeader+100) || dropped == 0 {
		t.Errorf("of all frames only %d were written at once, up to %d bytes, and %d were dropped", frames, gathered, dropped)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}
