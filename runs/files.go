package runs

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/media"
	"github.com/pawl-run/pawl/internal/redact"
)

// A File is a file of a run in the form for people.
type File struct {
	// Name is safe as the name of a file in one directory: it has no parts of a path and no control
	// characters. Files share it, whatever the case of its letters, only if they are the same.
	Name   string `json:"name"`
	Type   string `json:"type"`             // the media type, which a tool may have said
	Bytes  int    `json:"bytes"`            // in the journal
	Digest string `json:"digest,omitempty"` // the lower-case hex SHA-256 in the journal; empty: the file was not kept
	Call   string `json:"call,omitempty"`   // the call that returned it; empty: it is attached to the input
	Tool   string `json:"tool,omitempty"`
	run    string
	kept   pawl.File
}

// endings are what the names of files end in, by their type.
var endings = map[string]string{"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", media.PDF: ".pdf"}

// Files lists the files of a run: those of its input, then those that its calls returned.
func Files(s *pawl.State) []File {
	all := []File{}
	names, used := map[string]string{}, map[string]bool{}
	for _, f := range engine.RunFiles(s) {
		same := f.Name + "\x00" + f.Blob
		name, known := names[same]
		if !known || f.Blob == "" {
			name = media.Name(redact.Text(f.Name))
			if path.Ext(name) == "" { // many tools name no pictures, and programs open a file by its name
				name += endings[f.Type]
			}
			name = unusedName(name, used)
			names[same] = name
		}
		all = append(all, File{name, redact.Text(f.Type), f.Bytes, f.Blob, f.Call, f.Tool, s.Run(), f.File})
	}
	return all
}

// unusedName returns a name, with a number if the name is used.
func unusedName(name string, used map[string]bool) string {
	end := path.Ext(name)
	stem, free := strings.TrimSuffix(name, end), name
	for n := 2; used[strings.ToLower(free)]; n++ {
		free = fmt.Sprintf("%s-%d%s", stem, n, end)
	}
	used[strings.ToLower(free)] = true
	return free
}

// A farFiles is a journal at a distance that has the files of its runs only as people get them.
type farFiles interface {
	File(ctx context.Context, run, digest string) ([]byte, error)
}

// Read returns the data of a file from the journal of its run. What looks like a secret is taken out
// of a text. The error is [pawl.ErrUnknownBlob] if the journal does not have the file.
func (f File) Read(ctx context.Context, j pawl.Journal) ([]byte, error) {
	if far, ok := j.(farFiles); ok && f.Digest != "" {
		return far.File(ctx, f.run, f.Digest)
	}
	data, err := engine.Contents(ctx, j, f.kept)
	if err == nil && f.Type == media.Text {
		data = []byte(redact.Text(string(data)))
	}
	return data, err
}
