package archive

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/journals"
)

// Imported is the result of an import.
type Imported struct {
	Run      string `json:"run"`
	Entries  uint64 `json:"entries"` // how many were imported
	Of       uint64 `json:"of"`      // how many the whole export had
	Blobs    int    `json:"blobs"`
	Redacted bool   `json:"redacted"` // the run can be read but not resumed
	Torn     bool   `json:"torn"`     // the file is truncated, perhaps only by its last line
	// Continues is the run whose conversation this run continues. Resuming needs that
	// run in the same journal. Empty: none.
	Continues string `json:"continues,omitempty"`
}

// A DamagedError says why a file is not a whole export.
type DamagedError struct {
	Line int // from 1
	Err  error
}

// Error names the line.
func (e *DamagedError) Error() string { return fmt.Sprintf("line %d of the export: %v", e.Line, e.Err) }

// Unwrap returns what is wrong with the line.
func (e *DamagedError) Unwrap() error { return e.Err }

// Import writes a run that [Export] exported to a journal, under the same id and without an
// owner. A raw export can be resumed with its agent; a redacted one can only be read.
//
// A truncated file is imported up to where it ends. If entries are missing, the run can be
// read and forked but not resumed, since it may have done more than its log says. Any other
// problem with the file is a *DamagedError, and nothing is imported. If the run exists
// already, Import fails with pawl.ErrRunExists. A process that dies in Import leaves a run
// with all entries or none, as long as they fit into one batch of 32 MB.
func Import(ctx context.Context, j pawl.Journal, r io.Reader) (Imported, error) {
	f := importFile{in: bufio.NewReader(r)}
	if err := f.read(); err != nil {
		return Imported{}, fmt.Errorf("import: %w", err)
	}
	line, err := mark(&f.state, f.head.Redacted, f.state.Seq() < f.head.Entries)
	if err == nil {
		f.lines = append(f.lines, line)
		err = f.store(ctx, j)
	}
	switch {
	case errors.Is(err, pawl.ErrRunExists): // it names the run
		return Imported{}, fmt.Errorf("import: %w", err)
	case err != nil:
		return Imported{}, fmt.Errorf("import run %s: %w", f.head.Run, err)
	}
	got := Imported{
		Run: f.head.Run, Entries: uint64(len(f.lines)) - 1, Of: f.head.Entries, Blobs: len(f.blobs),
		Redacted: f.head.Redacted, Torn: !f.ended,
	}
	if start, _ := f.state.Start(); start.Continues != nil {
		got.Continues = start.Continues.Run
	}
	return got, nil
}

// An importFile is an export that is being read.
type importFile struct {
	in   *bufio.Reader
	line int

	head exportHead
	log
	digests   []journals.Chain // at each entry
	blobs     [][]byte
	ended     bool
	end       exportEnd
	signed    []byte // the line of the end
	signature []byte
}

// read reads the file to its end, or to where it is truncated.
func (f *importFile) read() error {
	for {
		line, whole, err := f.next()
		if err != nil {
			return err
		}
		if line == nil {
			break
		}
		f.line++
		if f.ended && f.signature == nil && bytes.HasPrefix(line, []byte(`{"signature":`)) && !torn(line) {
			if err := f.sign(line); err != nil {
				return &DamagedError{f.line, err}
			}
			continue
		}
		body, digest, err := unseal(line, f.chain)
		if err != nil && !whole && torn(line) {
			break
		}
		if err == nil {
			f.signed = line
			err = f.take(body, digest)
		}
		if err != nil {
			return &DamagedError{f.line, err}
		}
	}
	if f.state.Seq() == 0 {
		return &DamagedError{max(f.line, 1), errors.New("the file ends before its first entry")}
	}
	return nil
}

// mostLine bounds a line: a journal accepts 64 MB at once, which is a third more in base64.
const mostLine = 96 << 20

// next returns the next line without its line end; nil: none. It is not whole if the file ends
// within the line.
func (f *importFile) next() (line []byte, whole bool, err error) {
	for {
		part, err := f.in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			return line[:len(line)-1], true, nil
		case errors.Is(err, io.EOF):
			return line, false, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, false, err
		case len(line) > mostLine:
			return nil, false, &DamagedError{f.line + 1, fmt.Errorf("it is longer than %d bytes", mostLine)}
		}
	}
}

// torn reports whether a line is the beginning of an incomplete object.
func torn(line []byte) bool {
	var v json.RawMessage
	return line[0] == '{' && errors.Is(json.NewDecoder(bytes.NewReader(line)).Decode(&v), io.ErrUnexpectedEOF)
}

// sign takes the signature, which is the last line.
func (f *importFile) sign(line []byte) (err error) {
	var s exportSignature
	if err = strictly(line, &s); err == nil {
		f.signature, err = base64.StdEncoding.DecodeString(s.Signature)
	}
	return err
}

// take processes a line whose digest is right.
func (f *importFile) take(line []byte, digest journals.Chain) error {
	starts := func(text string) bool { return bytes.HasPrefix(line, []byte(text)) }
	switch {
	case f.ended:
		return errors.New("it comes after the end")
	case f.line == 1:
		if err := strictly(line, &f.head); err != nil {
			return err
		}
		if f.head.Export != exportFormat {
			return fmt.Errorf("its format is %d, this build reads %d", f.head.Export, exportFormat)
		}
		if f.head.Run == "" || f.head.Entries == 0 {
			return errors.New("it names no run, or one without entries")
		}
		f.log = newLog(f.head.Run)
		return nil
	case starts(`{"blob":`):
		return f.blob(line)
	case starts(`{"end":`):
		return f.finish(line)
	}
	if len(f.blobs) > 0 || f.state.Seq() == f.head.Entries {
		return fmt.Errorf("an entry comes after the last one, %d", f.head.Entries)
	}
	entry, err := f.add(f.head.Run, line)
	if err == nil && entry.Seq == 1 {
		err = f.state.Internals().CheckMachine()
	}
	f.digests = append(f.digests, digest)
	return err
}

// finish takes the end.
func (f *importFile) finish(line []byte) error {
	end := &f.end
	if err := strictly(line, end); err != nil {
		return err
	}
	f.ended = true
	switch {
	case end.End != f.head.Entries || f.state.Seq() != end.End:
		return fmt.Errorf("the end of %d entries comes after %d of %d", end.End, f.state.Seq(), f.head.Entries)
	case end.Run != f.head.Run || end.Redacted != f.head.Redacted:
		return errors.New("it is the end of another export")
	case end.Blobs != len(f.blobs):
		return fmt.Errorf("the end of %d blobs comes after %d", end.Blobs, len(f.blobs))
	case !end.Redacted && end.Log != hex.EncodeToString(f.chain[:]):
		return errors.New("it is the end of another log")
	}
	return nil
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func (f *importFile) blob(line []byte) error {
	var b exportBlob
	if err := strictly(line, &b); err != nil {
		return err
	}
	data, err := base64.StdEncoding.DecodeString(b.Data)
	if err != nil {
		return err
	}
	if f.head.Redacted || f.state.Seq() != f.head.Entries || digestOf(data) != b.Blob {
		return fmt.Errorf("the blob %s does not have that digest, or is in the wrong place", b.Blob)
	}
	f.blobs = append(f.blobs, data)
	return nil
}

// mark returns the encoded entry that says where a log came from, and folds it. It gets the
// time of the last entry, since the time between does not belong to the run.
func mark(s *pawl.State, redacted, torn bool) ([]byte, error) {
	entry := pawl.Entry{
		Run: s.Head().Run, Seq: s.Seq() + 1, At: s.Seq(), Time: s.Time(), Iteration: s.Iteration(),
		Event: s.Internals().Import(engine.Self().String(), redacted, torn),
	}
	if err := entry.Normalise(); err != nil {
		return nil, err
	}
	line, err := entry.AppendJSON(nil)
	if err == nil {
		s.Fold(entry)
	}
	return line, err
}

// mostBatch is the maximum of bytes of entries in one append.
const mostBatch = 32 << 20

// store writes the run. If the run cannot be written whole, it is removed again, if the journal can
// remove runs.
func (f *importFile) store(ctx context.Context, j pawl.Journal) error {
	blobs, _ := j.(pawl.Blobs)
	if len(f.blobs) > 0 && blobs == nil {
		return errors.New("it has blobs, and this journal keeps none")
	}
	lease, err := engine.ClaimNew(ctx, j, f.head.Run)
	if err != nil {
		return err
	}
	stop := engine.Hold(ctx, j, lease, 0)
	err = func() error {
		defer stop()
		for _, data := range f.blobs {
			if err := blobs.PutBlob(ctx, digestOf(data), data); err != nil {
				return err
			}
		}
		if mail, ok := j.(pawl.Inbox); ok {
			// The original journal has delivered the notices of the log.
			delivered := pawl.Signal{Run: lease.Run, Kind: pawl.SignalDelivery, Request: "imported", By: "import", Body: fmt.Appendf(nil, `{"seq":%d}`, f.state.Seq()), Time: time.Now().UTC()}
			if _, err := mail.Send(ctx, delivered); err != nil {
				return err
			}
		}
		b := pawl.Batch{Run: lease.Run, Epoch: lease.Epoch, Head: f.state.Head(), Text: engine.SearchText(&f.state)}
		if f.head.Redacted {
			b.Head.WakeAt = time.Time{} // the run will not continue
		}
		for rest := f.lines; len(rest) > 0; {
			n, size := 0, 0
			for n < len(rest) && (n == 0 || size+len(rest[n]) <= mostBatch) {
				size += len(rest[n])
				n++
			}
			b.Records = rest[:n]
			if err := j.Append(ctx, b); err != nil {
				return err
			}
			b.After += uint64(n)
			rest = rest[n:]
		}
		return nil
	}()
	if r, ok := j.(pawl.Remover); ok && err != nil {
		done, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		return errors.Join(err, r.Remove(done, lease.Run, lease.Epoch))
	}
	engine.Release(j, lease)
	return err
}

// Restored marks a run in a journal that was restored to an earlier state: entries that the
// journal lost may tell of Writes. The run can then be read and forked but not resumed, as
// after the import of a truncated export. A run that has ended is not marked, and a run that
// cannot be resumed anyway is not marked again. Restored reports whether it marked the run.
// A run with a live owner is a *pawl.HeldError: mark runs before anything drives them.
func Restored(ctx context.Context, j pawl.Journal, h pawl.Head) (bool, error) {
	if h.Seq == 0 || h.Status.Ended() {
		return false, nil
	}
	claim := pawl.Claim{Run: h.Run, Owner: engine.Self().String(), TTL: time.Minute}
	if engine.ParseOwner(h.Lease.Owner).Gone() {
		claim.Over = h.Lease.Epoch
	}
	lease, err := j.Claim(ctx, claim)
	if err != nil {
		return false, err
	}
	defer engine.Release(j, lease)
	s, err := engine.Load(ctx, j, h.Run)
	if err != nil || s.Internals().Torn() || s.Internals().Redacted() || s.Status().Ended() {
		return false, err
	}
	end := s.Seq()
	line, err := mark(s, false, true)
	if err == nil {
		head := s.Head()
		head.WakeAt = time.Time{} // it will not continue
		err = j.Append(ctx, pawl.Batch{Run: h.Run, Epoch: lease.Epoch, After: end, Records: [][]byte{line}, Head: head})
	}
	if errors.Is(err, pawl.ErrFenced) || errors.Is(err, pawl.ErrConflict) {
		err = fmt.Errorf("something drives it: %w", err)
	}
	return err == nil, err
}
