package archive

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/journals"
	"github.com/pawl-run/pawl/internal/redact"
)

// Options are the options of an export; nil is the zero value.
type Options struct {
	// Raw keeps the bytes of the log and adds the blobs that it refers to. Without Raw,
	// suspected secrets are removed from every entry, and the imported run can be read
	// but not resumed.
	Raw bool
	// Key signs the end of the export, with which [VerifyFile] can tell an export that its
	// owner made from another; nil: it is not signed.
	Key ed25519.PrivateKey
}

// An exporter writes sealed lines until writing fails.
type exporter struct {
	w     io.Writer
	chain journals.Chain // at the last entry
	err   error
}

func (x *exporter) write(line []byte) {
	if x.err == nil {
		_, x.err = x.w.Write(append(line, '\n'))
	}
}

// line writes a line that is no entry, and returns it.
func (x *exporter) line(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		x.err = errors.Join(x.err, err)
		return nil
	}
	line := seal(data, x.chain.Next(data))
	x.write(line)
	return line
}

func (x *exporter) entry(data []byte) {
	x.chain = x.chain.Next(data)
	x.write(seal(data, x.chain))
}

// Export writes a run as lines of JSON. A live run is exported up to its last entry when the export
// began. If the log cannot be read to the end, Export fails after writing the first lines.
func Export(ctx context.Context, j pawl.Journal, run string, w io.Writer, o *Options) error {
	o = cmp.Or(o, &Options{})
	head, err := headOf(ctx, j, run)
	if err != nil {
		return fmt.Errorf("export run %s: %w", run, err)
	}
	last := head.Seq
	x := exporter{w: w}
	x.line(exportHead{Export: exportFormat, Run: run, Redacted: !o.Raw, Entries: last})
	unredacted := journals.NewChain(run)
	x.chain = unredacted
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
		unredacted = unredacted.Next(row.Data)
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
		x.entry(row.Data)
	}
	if s.Seq() != last {
		return fmt.Errorf("export run %s: the log ends at entry %d, not %d", run, s.Seq(), last)
	}
	end := exportEnd{End: last, Run: run, Redacted: !o.Raw, Log: hex.EncodeToString(unredacted[:])}
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
			end.Blobs++
		}
	}
	line := x.line(end)
	if o.Key != nil && x.err == nil {
		data, _ := json.Marshal(exportSignature{base64.StdEncoding.EncodeToString(ed25519.Sign(o.Key, line))}) // a text always marshals
		x.write(data)
	}
	if x.err != nil {
		return fmt.Errorf("export run %s: %w", run, x.err)
	}
	return nil
}

// blobsOf returns the digests of the blobs that an event refers to.
func blobsOf(event pawl.Event) (digests []string) {
	var files []pawl.File
	switch e := event.(type) {
	case pawl.ToolFinished:
		if e.Blob != "" {
			digests = append(digests, e.Blob)
		}
		files = e.Files
	case pawl.ToolSettled:
		files = e.Files
	case pawl.RunStarted:
		files = e.Files
	}
	for _, f := range files {
		if f.Blob != "" {
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
