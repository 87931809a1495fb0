package engine

import (
	"context"
	"slices"

	"github.com/pawl-run/pawl"
)

// attachments give the files of a run, and of those that it continues, to the models and tools of
// the run.
type attachments struct{ rec *recorder }

// fill returns the messages with the data of their files, which the log has by reference.
func (a attachments) fill(messages []pawl.Message) ([]pawl.Message, error) {
	r := a.rec
	if !r.files.among(r.state) {
		return messages, nil
	}
	messages = slices.Clone(messages)
	for i, m := range messages {
		copied := false
		for k, p := range m.Parts {
			f, ok := p.(pawl.File)
			if !ok || f.Data != nil {
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

// outfit gives the files to a tool that sends them elsewhere, as a remote agent does.
func (a attachments) outfit(t pawl.Tool) pawl.Tool {
	r := a.rec
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
