package archive

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/redact"
)

// Options are the options of an export; nil is the zero value.
type Options struct {
	// Raw keeps the bytes of the log and adds the blobs that it refers to. Without Raw,
	// suspected secrets are removed from every entry, and the imported run can be read
	// but not resumed.
	Raw bool
}

// Export writes a run as lines of JSON. A live run is exported up to its last entry when the export
// began. If the log cannot be read to the end, Export fails after writing the first lines.
func Export(ctx context.Context, j pawl.Journal, run string, w io.Writer, o *Options) error {
	if o == nil {
		o = &Options{}
	}
	last, err := lastOf(ctx, j, run)
	if err != nil {
		return fmt.Errorf("export run %s: %w", run, err)
	}
	x := exporter{w: w}
	x.line(exportHead{Export: exportFormat, Run: run, Redacted: !o.Raw, Entries: last})
	s := new(pawl.State)
	var blobs []string
	for row, err := range j.Read(ctx, run, 1) {
		if err != nil {
			return fmt.Errorf("export run %s: %w", run, err)
		}
		if row.Seq > last {
			break
		}
		entry, err := entryOf(s, run, row.Data)
		if err == nil && !o.Raw {
			row.Data = redact.JSON(row.Data)
			_, err = pawl.DecodeEntry(row.Data)
		}
		if err != nil {
			return fmt.Errorf("export run %s, entry %d: %w", run, row.Seq, err)
		}
		if o.Raw {
			blobs = append(blobs, blobsOf(entry.Event)...)
		}
		x.raw(row.Data)
	}
	if s.Seq() != last {
		return fmt.Errorf("export run %s: the log ends at entry %d, not %d", run, s.Seq(), last)
	}
	if store, ok := j.(pawl.Blobs); ok {
		for _, digest := range blobs {
			data, err := store.Blob(ctx, digest)
			if errors.Is(err, pawl.ErrUnknownBlob) {
				continue // the log has an excerpt of the lost blob
			}
			if err != nil {
				return fmt.Errorf("export run %s: %w", run, err)
			}
			x.line(exportBlob{Blob: digest, Data: base64.StdEncoding.EncodeToString(data)})
		}
	}
	x.line(exportEnd{End: last})
	if x.err != nil {
		return fmt.Errorf("export run %s: %w", run, x.err)
	}
	return nil
}

// blobsOf returns the digests of the blobs that an event refers to.
func blobsOf(event pawl.Event) (digests []string) {
	switch e := event.(type) {
	case pawl.ToolFinished:
		if e.Blob != "" {
			digests = append(digests, e.Blob)
		}
	case pawl.RunStarted:
		for _, f := range e.Files {
			digests = append(digests, f.Blob)
		}
	}
	return digests
}

// entryOf decodes the next line of a log and folds it.
func entryOf(s *pawl.State, run string, data []byte) (pawl.Entry, error) {
	entry, err := pawl.DecodeEntry(data)
	if err == nil && entry.Run != run {
		err = fmt.Errorf("it belongs to run %s", entry.Run)
	}
	if err == nil {
		err = s.Internals().CheckNext(entry)
	}
	if err == nil {
		s.Fold(entry)
	}
	return entry, err
}

// lastOf returns the seq of a run's last entry.
func lastOf(ctx context.Context, j pawl.Journal, run string) (uint64, error) {
	for h, err := range j.List(ctx, pawl.Query{Run: run}) {
		if err != nil {
			return 0, err
		}
		if h.Run == run {
			if h.Seq == 0 {
				return 0, errors.New("it has no entries: it was never started")
			}
			return h.Seq, nil
		}
	}
	return 0, pawl.ErrUnknownRun
}
