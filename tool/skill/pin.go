package skill

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// The most that a skill's folder may hold, so that its digest is cheap.
const (
	mostFiles = 20_000
	mostBytes = 512 << 20
)

// pins are the digests of a skill's files by path, and of the whole, as they were when the tool
// was made.
type pins struct {
	whole string
	files map[string]string
	wrong error // why the folder cannot be pinned
}

// missing is the digest of a folder that does not exist.
const missing = "not there"

// pin computes the digests of all files in a folder except .git. Links to files are followed if
// they stay inside; links to directories are not.
func pin(s *Skill) pins {
	p := pins{files: map[string]string{}}
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		p.whole = missing
		return p
	}
	defer root.Close()
	left := int64(mostBytes)
	whole := sha256.New()
	p.wrong = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || name == ".":
			return nil // a file that cannot be read does not exist for the model either
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		digest, size := content(root, name, left)
		if left -= size; left < 0 || len(p.files) == mostFiles {
			return fmt.Errorf("the skill %s has more than %d files or %d MiB in its folder; keep files that are not part of it elsewhere", s.Name, mostFiles, mostBytes>>20)
		}
		p.files[name] = digest
		fmt.Fprintf(whole, "%s\x00%s\x00", name, digest)
		return nil
	})
	p.whole = hex.EncodeToString(whole.Sum(nil)[:16])
	return p
}

// content returns the digest of a file's content. For anything that is not a file inside the
// folder it returns a phrase that says so.
func content(root *os.Root, name string, most int64) (digest string, size int64) {
	f, err := root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe would block the opening
	if err != nil {
		return "cannot be opened", 0
	}
	defer f.Close()
	switch info, err := f.Stat(); {
	case err != nil || !info.Mode().IsRegular():
		return "no file", 0
	case info.Size() > most:
		return "", info.Size()
	}
	h := sha256.New()
	size, err = io.Copy(h, io.LimitReader(f, most+1))
	if err != nil {
		return "cannot be read", size
	}
	return hex.EncodeToString(h.Sum(nil)), size
}

// holds returns an error if a file has changed since the tool was made.
func (p *pins) holds(file string, data []byte) error {
	now := sha256.Sum256(data)
	switch was, there := p.files[filepath.ToSlash(file)]; {
	case !there:
		return fmt.Errorf("%s is not among the files that the skill had when this agent was made; do without it", file)
	case was != hex.EncodeToString(now[:]):
		return fmt.Errorf("%s has changed since this agent was made, so it is not read until a person has looked at it and resumed the run with --allow-change; go on without it", file)
	}
	return nil
}
