package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/media"
	"github.com/pawl-run/pawl/internal/wire"
)

// Bounds of the files of an input.
const (
	MaxFiles     = 50       // how many
	MaxFileBytes = 32 << 20 // of all together
)

// A FileError says why a run cannot start with a file. Nothing is recorded.
type FileError struct {
	File string // its name; empty: Err says which it is
	Err  error
}

// Error names the file.
func (e *FileError) Error() string {
	if e.File == "" {
		return e.Err.Error()
	}
	return fmt.Sprintf("file %s: %v", e.File, e.Err)
}

// Unwrap returns what is wrong with the file.
func (e *FileError) Unwrap() error { return e.Err }

// A Taker is a [pawl.Model] that accepts only some files. Any other model is assumed to accept
// all. If a run fails over to a model that does not accept a file, the request says so in place
// of the file.
type Taker interface {
	// Takes returns an error that says which of the files of an input, other than texts,
	// the model does not take, and why; nil: it takes them.
	Takes(files []pawl.File) error
}

// Takes asks a model whether it accepts files; see [Taker].
func Takes(m pawl.Model, files []pawl.File) error {
	if t, ok := m.(Taker); ok {
		return t.Takes(files)
	}
	return nil
}

// attach checks the files of the input, and stores them. The run's first entry then has
// them by reference.
func (b *beginning) attach(ctx context.Context) error {
	if len(b.Files) == 0 || b.driven { // a child gets those of its parent, which are stored
		return nil
	}
	e := b.engine
	if e.blobs == nil {
		return &FileError{fileName(b.Files[0]), errors.New("the journal keeps no files; use one that implements pawl.Blobs")}
	}
	if len(b.Files) > MaxFiles {
		return &FileError{fileName(b.Files[MaxFiles]), fmt.Errorf("an input has at most %d files, not %d", MaxFiles, len(b.Files))}
	}
	b.Files = slices.Clone(b.Files)
	clean := e.cleaner(b.machine)
	size := 0
	for i := range b.Files {
		f := &b.Files[i]
		if err := known(f, &clean); err != nil {
			return &FileError{fileName(*f), err}
		}
		if size += f.Bytes; size > MaxFileBytes {
			return &FileError{fileName(*f), fmt.Errorf("the files have more than %d MiB together", MaxFileBytes>>20)}
		}
	}
	if err := takes(b.machine.Agent(), b.Files); err != nil {
		return err
	}
	for i := range b.Files {
		f := &b.Files[i]
		if err := e.blobs.PutBlob(ctx, f.Blob, f.Data); err != nil {
			return fmt.Errorf("store the file %s: %w", f.Name, err)
		}
		f.Data = nil
	}
	return nil
}

// takes returns a [FileError] if a model of an agent does not take all files.
func takes(a pawl.Agent, all []pawl.File) error {
	for _, m := range append([]pawl.Model{a.Model}, a.Fallback...) {
		if err := Takes(m, slices.DeleteFunc(slices.Clone(all), isText)); err != nil {
			return &FileError{Err: err}
		}
	}
	return nil
}

// taken is [takes] for the files of a run, which its log has by reference.
func (r *recorder) taken(a pawl.Agent) error {
	var all []pawl.File
	for _, f := range r.state.Files() {
		p, err := r.file(f)
		if err != nil {
			return err
		}
		if f, ok := p.(pawl.File); ok {
			all = append(all, f)
		}
	}
	return takes(a, all)
}

func isText(f pawl.File) bool { return f.Type == media.Text }

func fileName(f pawl.File) string { return cmp.Or(f.Name, "without a name") }

// known fills in what the log has of a file. A text is cleaned as all texts are.
func known(f *pawl.File, clean *cleaner) error {
	kind := media.Type(f.Data)
	switch {
	case len(f.Data) == 0:
		return errors.New("it is empty")
	case kind == "":
		return errors.New("it is neither a picture, a PDF, a sound nor text in UTF-8, and models accept no other files")
	case media.Contradicts(kind, f.Type):
		return fmt.Errorf("it is %s, not %s", kind, f.Type)
	}
	f.Type, f.Name = kind, cmp.Or(clean.text(strings.ToValidUTF8(f.Name, "\uFFFD")), kind)
	if isText(*f) {
		f.Data = []byte(clean.text(string(f.Data)))
		f.Tokens = (wire.Quoted(framed(*f)) + 2) / 3 // as the machine counts texts
	} else {
		f.Tokens = media.Tokens(kind, f.Data)
	}
	f.Blob, f.Bytes = digestOf(f.Data), len(f.Data)
	return nil
}

// framed returns an attached text as the model reads it. The mark is a digest of the text,
// so that nothing in it can pretend to be its end.
func framed(f pawl.File) string {
	mark := fmt.Sprintf("[file %.12s]", digestOf(f.Data))
	return fmt.Sprintf("%s The attached file %s, up to where this mark comes again:\n%s\n%s", mark, f.Name, f.Data, mark)
}

// files are the attached files of a run, and of those that it continues, as their model gets
// them.
type files struct {
	looked bool
	any    bool // there are some
	parts  map[string]pawl.Part
}

// among reports whether the conversation of a run has files.
func (fs *files) among(s *pawl.State) bool {
	for ok := !fs.looked; ok; s, ok = s.Earlier() {
		fs.any = fs.any || len(s.Files()) > 0
	}
	fs.looked = true
	return fs.any
}

// filled returns the messages with the data of their files, which the log has by reference.
func (r *recorder) filled(messages []pawl.Message) ([]pawl.Message, error) {
	if !r.files.among(r.state) {
		return messages, nil
	}
	messages = slices.Clone(messages)
	for i, m := range messages {
		copied := false
		for k, p := range m.Parts {
			f, ok := p.(pawl.File)
			if !ok || f.Blob == "" {
				continue
			}
			if !copied {
				messages[i].Parts, copied = slices.Clone(m.Parts), true
			}
			part, err := r.file(f)
			if err != nil {
				return nil, err
			}
			messages[i].Parts[k] = part
		}
	}
	return messages, nil
}

// file reads a file once.
func (r *recorder) file(f pawl.File) (pawl.Part, error) {
	if p, ok := r.files.parts[f.Blob]; ok {
		return p, nil
	}
	f, err := r.read(r.base, f)
	if errors.Is(err, pawl.ErrUnknownBlob) {
		return nil, &pawl.ModelError{Class: pawl.ClassInvalid, Billed: true, Message: "not sent: " + err.Error(), Err: err}
	}
	if err != nil {
		return nil, err
	}
	part := pawl.Part(f)
	if isText(f) {
		part = pawl.Text{Text: framed(f)}
	}
	if r.files.parts == nil {
		r.files.parts = map[string]pawl.Part{}
	}
	r.files.parts[f.Blob] = part
	return part, nil
}

// read returns a file with its data.
func (r *recorder) read(ctx context.Context, f pawl.File) (pawl.File, error) {
	err := pawl.ErrUnknownBlob
	if blobs := r.engine.blobs; blobs != nil {
		f.Data, err = blobs.Blob(ctx, f.Blob)
	}
	switch {
	case errors.Is(err, pawl.ErrUnknownBlob):
		return f, &missingFileError{f.Name, err}
	case err != nil:
		return f, err
	case isText(f):
		f.Data = []byte(r.clean.secrets.Scrub(string(f.Data))) // the run may have secrets that an earlier one did not
	}
	return f, nil
}

// missingFileError says that the data of a file is gone.
type missingFileError struct {
	name string
	err  error
}

func (e *missingFileError) Error() string {
	return "the attached file " + e.name + " is not in the journal; import the run with pawl export --raw, or start it again"
}

func (e *missingFileError) Unwrap() error { return e.err }

// sending gives the files of a run, and of those that it continues, to a tool that sends them
// elsewhere, as a remote agent does.
func sending(r *recorder, t pawl.Tool) pawl.Tool {
	to, ok := t.(interface {
		WithFiles(read func(context.Context) ([]pawl.File, error)) pawl.Tool
	})
	if !ok {
		return t
	}
	var all []pawl.File
	for s, ok := r.state, true; ok; s, ok = s.Earlier() {
		all = append(all, s.Files()...)
	}
	return to.WithFiles(func(ctx context.Context) (filled []pawl.File, err error) {
		for _, f := range all {
			if f, err = r.read(ctx, f); err != nil {
				return nil, err
			}
			filled = append(filled, f)
		}
		return filled, nil
	})
}

// ReadFile reads a file to attach to an input, under the last element of its path.
func ReadFile(path string) (pawl.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return pawl.File{}, &FileError{path, bare(err)}
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return pawl.File{}, &FileError{path, errors.New("it is not a regular file")}
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxFileBytes+1))
	switch {
	case err != nil:
		return pawl.File{}, &FileError{path, bare(err)}
	case len(data) > MaxFileBytes:
		return pawl.File{}, &FileError{path, fmt.Errorf("it has more than %d MiB", MaxFileBytes>>20)}
	}
	return pawl.File{Name: filepath.Base(path), Data: wire.Unmarked(data)}, nil
}

// bare returns the error of a file without its name.
func bare(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return at.Err
	}
	return err
}
