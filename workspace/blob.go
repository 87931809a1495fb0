package workspace

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// blobs are contents stored by digest: the originals that a difference may have to show,
// and new contents. The originals are many and come at once, and making a file costs more
// than filling it, so they share one file; each later content has its own file, named by
// its digest.
type blobs struct {
	dir   string
	spans map[string]span
}

// span is the place of a content in the file of originals.
type span [2]int64 // offset and size

func (t *Tree) blobs() blobs { return blobs{filepath.Join(t.state, "blobs"), t.record.Originals} }

func (b blobs) originals() string { return filepath.Join(b.dir, "originals") }

func (b blobs) path(digest string) string { return filepath.Join(b.dir, digest) }

// size returns the size of a content, or false if there is none.
func (b blobs) size(digest string) (int64, bool) {
	if span, ok := b.spans[digest]; ok {
		return span[1], true
	}
	info, err := os.Lstat(b.path(digest))
	if err != nil {
		return 0, false
	}
	return info.Size(), true
}

func (b blobs) has(digest string) bool {
	_, ok := b.size(digest)
	return ok
}

// put stores the content of a reader and returns its digest.
func (b blobs) put(from io.Reader) (string, error) {
	temp, err := os.CreateTemp(b.dir, "new-")
	if err != nil {
		return "", err
	}
	digest, err := copyDigest(temp, from)
	if err := errors.Join(err, temp.Close()); err != nil {
		return "", errors.Join(err, os.Remove(temp.Name()))
	}
	return digest, os.Rename(temp.Name(), b.path(digest))
}

// file returns the name of the file that has a content.
func (b blobs) file(digest string) string {
	if _, packed := b.spans[digest]; packed {
		return b.originals()
	}
	return b.path(digest)
}

// get returns a small content.
func (b blobs) get(digest string) ([]byte, error) {
	var data bytes.Buffer
	err := b.copyTo(&data, digest)
	return data.Bytes(), err
}

// copyTo writes a content of any size. It fails if the content does not have its digest.
func (b blobs) copyTo(to io.Writer, digest string) error {
	f, err := os.Open(b.file(digest))
	if err != nil {
		return err
	}
	defer f.Close()
	from := io.Reader(f)
	if span, packed := b.spans[digest]; packed {
		from = io.NewSectionReader(f, span[0], span[1])
	}
	got, err := copyDigest(to, from)
	if err == nil && got != digest {
		err = b.damaged(digest)
	}
	return err
}

// sync makes contents survive a crash of the system.
func (b blobs) sync(digests []string) error {
	synced := map[string]bool{}
	for _, digest := range digests {
		name := b.file(digest)
		if synced[name] {
			continue
		}
		synced[name] = true
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		if err := errors.Join(fsync(f), f.Close()); err != nil {
			return err
		}
	}
	return nil
}

func (b blobs) damaged(digest string) error {
	return fmt.Errorf("the stored content %s is damaged", digest)
}

func copyDigest(to io.Writer, from io.Reader) (string, error) {
	sum := sha256.New()
	if _, err := io.Copy(io.MultiWriter(to, sum), from); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// inspect returns what is at a path below root. A directory, or anything else that is not a
// [File], has a mode that no File has. Ancestors that are links are refused, since the same
// file has another path.
func inspect(root *os.Root, name string) (File, error) {
	if blocked, err := ancestor(root, name); err != nil || blocked != "" {
		return File{}, err
	}
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return File{}, nil
	}
	if err != nil {
		return File{}, err
	}
	switch info.Mode().Type() {
	case 0:
		f, err := root.Open(name)
		if err != nil {
			return File{}, err
		}
		defer f.Close()
		digest, err := copyDigest(io.Discard, f)
		return File{info.Mode().Perm(), digest}, err
	case fs.ModeSymlink:
		target, err := root.Readlink(name)
		sum := sha256.Sum256([]byte(target))
		return File{fs.ModeSymlink, hex.EncodeToString(sum[:])}, err
	}
	return File{Mode: info.Mode().Type()}, nil
}
