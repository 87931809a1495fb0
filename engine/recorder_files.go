package engine

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/media"
	"github.com/pawl-run/pawl/internal/wire"
)

// files are the files of a run, and of those that it continues, as their model gets them.
type files struct {
	looked   bool
	attached []string // digests of those of inputs
	returned bool     // tools have returned some in earlier runs
	parts    map[string]pawl.Part
}

// among reports whether the conversation of a run has files.
func (a *files) among(s *pawl.State) bool {
	if now := s; !a.looked {
		a.looked = true
		for ok := true; ok; now, ok = now.Earlier() {
			for _, f := range now.Files() {
				a.attached = append(a.attached, f.Blob)
			}
			a.returned = a.returned || now != s && now.Internals().Window().Images > 0
		}
	}
	return len(a.attached) > 0 || a.returned || s.Internals().Window().Images > 0
}

// keepFiles cleans and stores the files that a tool returned, and returns what the log has of
// them: of a picture its data, and of any other file a reference. A file that is empty, or beyond the
// bounds of an input's files, has neither. A model reads so many bytes of a text.
func (r *recorder) keepFiles(returned []pawl.File, shown int) (kept []pawl.File) {
	size := 0
	for i, from := range returned {
		if i == MaxFiles {
			return append(kept, r.unkept(pawl.File{Name: display.Count(len(returned)-i, "more file"), Bytes: 1}))
		}
		f := pawl.File{Name: from.Name, Type: from.Type, Data: bytes.Clone(from.Data)} // the tool may still write to its own copy
		returnedAs(&f, &r.clean, cmp.Or(from.Shown, shown))
		switch size += f.Bytes; {
		case f.Bytes < from.Bytes && len(from.Data) == 0: // its tool has left it out
			f.Bytes = from.Bytes
			f = r.unkept(f)
		case size > MaxFileBytes || f.Bytes == 0:
			f = r.unkept(f)
		case display.Picture(f.Type):
			f.Blob, f.Bytes, f.Tokens = "", 0, 0 // they count as pictures
		case keepBlob(r, f.Data) == "":
			f = r.unkept(f)
		default:
			f.Data = nil
		}
		kept = append(kept, f)
	}
	return kept
}

// addReturned adds the files that the tools of a child's run have returned to the result of its call.
func (r *recorder) addReturned(out *pawl.Output, s *pawl.State) (err error) {
	size := 0
	for _, f := range RunFiles(s) {
		if f.Call == "" || holds(out.Files, f.File) {
			continue
		}
		if size += f.Bytes; len(out.Files) < MaxFiles && size <= MaxFileBytes {
			if f.Data, err = Contents(r.base, r.host.journal, f.File); err != nil && !errors.Is(err, pawl.ErrUnknownBlob) {
				return err
			}
		}
		c, _ := s.Call(f.Call)
		out.Files, out.Untrusted = append(out.Files, f.File), out.Untrusted || c.Trust == pawl.Untrusted
	}
	return nil
}

// handOn returns files of a run, as the input of another run has them, without those that are not kept.
func (r *recorder) handOn(files []pawl.File) (all []pawl.File) {
	for _, f := range files {
		if f.Data != nil { // a picture of a result
			f.Blob, f.Bytes, f.Tokens, f.Data = keepBlob(r, f.Data), len(f.Data), media.Tokens(f.Type, f.Data), nil
		}
		if f.Blob != "" && !holds(all, f) {
			all = append(all, f)
		}
	}
	return all
}

// holds reports whether a file is among others.
func holds(all []pawl.File, f pawl.File) bool {
	return f.Blob != "" && slices.ContainsFunc(all, func(other pawl.File) bool { return other.Blob == f.Blob && other.Name == f.Name })
}

// returnedAs fills in what the log has of a file that a tool returned.
func returnedAs(f *pawl.File, clean *cleaner, shown int) {
	said, kind := media.Named(f.Type), media.Type(f.Data)
	switch {
	case display.Picture(said): // whatever its bytes are
		kind = said
	case kind == "" && said != "" && !media.Contradicts("", said):
		kind = display.Clip(said, 100)
	case kind == "":
		kind = "application/octet-stream"
	}
	f.Type, f.Name = kind, media.Name(clean.text(f.Name))
	if isText(*f) {
		f.Data = []byte(clean.text(string(f.Data)))
		f.Shown = shown
	}
	f.Blob, f.Bytes = digestOf(f.Data), len(f.Data)
	switch why := leftOut(*f); {
	case why != "":
		f.Tokens = noteTokens
	case isText(*f):
		f.Tokens = (wire.Quoted(framed(*f)) + 2) / 3 // as the machine counts texts
	default:
		f.Tokens = media.Tokens(kind, f.Data)
	}
}

// unkept is what the log has of a file that is not kept.
func (r *recorder) unkept(f pawl.File) pawl.File {
	return pawl.File{Name: f.Name, Type: f.Type, Bytes: f.Bytes, Tokens: noteTokens}
}

// noteTokens is about the most tokens of what stands in place of a file.
const noteTokens = 100

// leftOut says why no model reads a file; empty: those that take its type do.
func leftOut(f pawl.File) string {
	switch {
	case f.Blob == "" && f.Bytes == 0:
		return "it is empty"
	case f.Blob == "":
		return fmt.Sprintf("it was not kept; a result has at most %d files, with %d MiB together", MaxFiles, MaxFileBytes>>20)
	case f.Type == media.Text, f.Type == media.PDF, display.Picture(f.Type), strings.HasPrefix(f.Type, "audio/"):
		return ""
	}
	return "models take no " + f.Type + "; people can get it"
}

// file reads a file once.
func (r *recorder) file(f pawl.File) (pawl.Part, error) {
	key := fmt.Sprint(f.Blob, f.Shown, f.Name)
	if p, ok := r.files.parts[key]; ok {
		return p, nil
	}
	if why := leftOut(f); why != "" {
		return pawl.Text{Text: fmt.Sprintf("[file %s left out: %s]", f.Name, why)}, nil
	}
	f, err := r.read(r.base, f)
	if errors.Is(err, pawl.ErrUnknownBlob) {
		return nil, &pawl.ModelError{Class: pawl.ClassInvalid, Billed: true, Message: "not sent: " + err.Error(), Err: err}
	}
	if err != nil {
		return nil, err
	}
	if !slices.Contains(r.files.attached, f.Blob) { // a provider's limits drop the attached files last
		f.Blob = ""
	}
	part := pawl.Part(f)
	if isText(f) {
		part = pawl.Text{Text: framed(f)}
	}
	if r.files.parts == nil {
		r.files.parts = map[string]pawl.Part{}
	}
	r.files.parts[key] = part
	return part, nil
}

// read returns a file with its data.
func (r *recorder) read(ctx context.Context, f pawl.File) (pawl.File, error) {
	err := pawl.ErrUnknownBlob
	if blobs := r.host.blobs; blobs != nil {
		f.Data, err = blobs.Blob(ctx, f.Blob)
	}
	switch {
	case errors.Is(err, pawl.ErrUnknownBlob):
		return f, fmt.Errorf("the attached file %s is not in the journal (%w); import the run with pawl export --raw, or start it again", f.Name, err)
	case err != nil:
		return f, err
	case isText(f):
		f.Data = []byte(r.clean.secrets.Scrub(string(f.Data))) // the run may have secrets that an earlier one did not
	}
	return f, nil
}

func isText(f pawl.File) bool { return f.Type == media.Text }

// framed returns an attached text as the model reads it. The mark is a digest of the text,
// so that nothing in it can pretend to be its end.
func framed(f pawl.File) string {
	mark, text := fmt.Sprintf("[file %.12s]", digestOf(f.Data)), string(f.Data)
	if f.Shown > 0 {
		text, _ = display.Cut(text, f.Shown)
	}
	return fmt.Sprintf("%s The attached file %s, up to where this mark comes again:\n%s\n%s", mark, f.Name, text, mark)
}

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
