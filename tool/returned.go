package tool

import (
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/pawl-run/pawl/internal/media"
	"github.com/pawl-run/pawl/internal/process"
	"github.com/pawl-run/pawl/internal/redact"
)

// filesVariable names the directory in which a command leaves the files that it returns.
const filesVariable = "PAWL_FILES"

// mostEntries bounds what is read of that directory, which may have any number of files.
const mostEntries = 10 * media.MostFiles

// returned is the directory of one command for the files that it returns. It is open from before the
// command starts, so that the command cannot put another one in its place.
type returned struct {
	path string
	root *os.Root
}

// openReturned makes the directory, and lets the command of the job write there.
func (j *job) openReturned(c *process.Command) (*returned, error) {
	path, err := os.MkdirTemp(j.FilesIn, "pawl-files-")
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, errors.Join(err, os.Remove(path))
	}
	c.Env = append(slices.Clip(c.Env), filesVariable+"="+path)
	if j.Cage != nil {
		caged := j.Cage.Writing(path)
		j.Cage = &caged
	}
	return &returned{path, root}, nil
}

// close removes the directory.
func (r *returned) close() error { return errors.Join(r.root.Close(), os.RemoveAll(r.path)) }

// files returns the regular files, by name and without secrets. A link is not followed. Files beyond
// the bounds of a result have no data.
func (r *returned) files(secrets *redact.Secrets) (all []process.File, err error) {
	dir, err := r.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(mostEntries)
	if err != nil && err != io.EOF && !os.IsNotExist(err) { // the command may have removed it
		return nil, err
	}
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	left := media.MostBytes
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		f := process.File{Name: secrets.Scrub(e.Name())}
		if len(all) < media.MostFiles {
			f.Data, f.Bytes = r.read(e.Name(), left)
			left -= len(f.Data)
		}
		if media.Type(f.Data) == media.Text {
			f.Data = []byte(secrets.Scrub(string(f.Data)))
			f.Bytes = len(f.Data)
		}
		all = append(all, f)
	}
	return all, nil
}

// read returns the data of a file, and how many bytes it has. It returns no data if these are more
// than most, or if the file cannot be read.
func (r *returned) read(name string, most int) (data []byte, size int) {
	f, err := r.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe may have come in its place
	if err != nil {
		return nil, 1
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil, !info.Mode().IsRegular():
		return nil, 1
	case info.Size() > int64(most):
		return nil, int(info.Size())
	}
	if data, err = io.ReadAll(io.LimitReader(f, info.Size())); err != nil {
		return nil, 1
	}
	return data, len(data)
}
