package archive

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/journals"
)

// Verified says whether a log is intact: each entry follows on the one before it, and has the
// digest that it had when it was appended.
type Verified struct {
	Run     string `json:"run"`
	Intact  bool   `json:"intact"`
	Entries uint64 `json:"entries"` // how many are intact, from the first on
	// Digest is that of the log at the last of these entries. A change of any entry changes it. A
	// redacted file has the digest at its end only.
	Digest    string  `json:"digest"`
	Redacted  bool    `json:"redacted"`  // secrets were removed; the digests of the entries are made of what is left
	Signature string  `json:"signature"` // of an export: none, unchecked (no key was given, or the end is not reached), valid, or wrong (of another key, or of another log)
	Seq       *uint64 `json:"seq"`       // the first entry that is not intact; null: none, or it is not an entry
	Why       *string `json:"why"`       // null: the log is intact

	digests []journals.Chain // at each entry, of a file that is not redacted
}

func (v *Verified) broken(seq uint64, why string) {
	v.Intact, v.Why = false, &why
	if seq > 0 {
		v.Seq = &seq
	}
}

// A log is a log as far as it has been read.
type log struct {
	state pawl.State
	chain journals.Chain
	lines [][]byte
	forks []pawl.RunForked
}

func newLog(run string) log { return log{chain: journals.NewChain(run)} }

// add takes the next line of the log of a run.
func (l *log) add(run string, line []byte) (pawl.Entry, error) {
	entry, err := entryOf(&l.state, run, line)
	if err != nil {
		return entry, err
	}
	l.lines, l.chain = append(l.lines, line), l.chain.Next(line)
	if fork, ok := entry.Event.(pawl.RunForked); ok {
		l.forks = append(l.forks, fork)
	}
	return entry, nil
}

// into reports how far the log was read, and whether its forks share what they claim to share.
func (l *log) into(v *Verified) {
	v.Entries, v.Digest = l.state.Seq(), hex.EncodeToString(l.chain[:])
	if v.Redacted = v.Redacted || l.state.Internals().Redacted(); v.Redacted || !v.Intact {
		return
	}
	for _, fork := range l.forks {
		var shared []pawl.Entry
		for _, line := range l.lines[:min(fork.Seq, uint64(len(l.lines)))] {
			entry, _ := pawl.DecodeEntry(line) // add has decoded it
			shared = append(shared, entry)
		}
		if digest, err := engine.ForkDigest(shared, fork.From); err != nil || digest != fork.Digest {
			v.broken(fork.Seq+1, fmt.Sprintf("the entries before it are not those of run %s, of which it is a fork", fork.From))
			return
		}
	}
}

// Verify reads the log of a run in a journal, up to its last entry when Verify began. It folds
// the log and compares the result with the head of the run. An anchor is what [VerifyFile] says
// of an earlier export of the run; nil: there is none. Only an anchor shows that the end of a
// log was cut off, or that somebody changed entries with their digests. The error says why
// the journal cannot be read, and not that the log is not intact.
func Verify(ctx context.Context, j pawl.Journal, run string, anchor *Verified) (Verified, error) {
	v := Verified{Run: run, Intact: true, Signature: "none"}
	h, err := headOf(ctx, j, run)
	if err != nil {
		return v, fmt.Errorf("verify run %s: %w", run, err)
	}
	l := newLog(run)
	for row, err := range j.Read(ctx, run, 1) {
		if damage, ok := errors.AsType[*journals.DamageError](err); ok {
			v.broken(damage.Seq, damage.Why)
			break
		}
		if err != nil {
			return v, fmt.Errorf("verify run %s: %w", run, err)
		}
		if row.Seq > h.Seq {
			break
		}
		if _, err := l.add(run, row.Data); err != nil {
			v.broken(row.Seq, err.Error())
			break
		}
		if anchor.differs(row.Seq, l.chain) {
			v.broken(row.Seq, "it is not the entry of the export")
			break
		}
	}
	l.into(&v)
	switch {
	case !v.Intact:
	case v.Entries < h.Seq:
		v.broken(v.Entries+1, fmt.Sprintf("the log ends at entry %d, and its head says %d", v.Entries, h.Seq))
	case anchor != nil && v.Entries < anchor.Entries:
		v.broken(v.Entries+1, fmt.Sprintf("the log ends at entry %d, and the export has %d", v.Entries, anchor.Entries))
	default:
		if what := differing(h, &l.state); what != "" {
			v.broken(0, "the list of runs has another "+what+" than the log says")
		}
	}
	return v, nil
}

// differs reports whether an export, if there is one, has another digest at an entry.
func (v *Verified) differs(seq uint64, at journals.Chain) bool {
	switch {
	case v == nil || seq > v.Entries:
		return false
	case uint64(len(v.digests)) >= seq:
		return v.digests[seq-1] != at
	}
	return seq == v.Entries && v.Digest != hex.EncodeToString(at[:])
}

// differing names what a head has and the log does not say; empty: nothing.
func differing(h pawl.Head, s *pawl.State) string {
	is := s.Head()
	apart := func(a, b time.Time) bool { return a.Sub(b).Abs() >= time.Microsecond } // a database may round
	halted := h.WakeAt.IsZero() && (s.Internals().Redacted() || s.Internals().Torn())
	switch {
	case h.Status != is.Status:
		return "status"
	case h.Agent != is.Agent || h.Loop != is.Loop:
		return "agent"
	case h.Iterations != is.Iterations:
		return "number of iterations"
	case h.Cost != is.Cost || h.Priced != is.Priced:
		return "cost"
	case !maps.Equal(h.Labels, is.Labels):
		return "label"
	case h.Thread != is.Thread || h.Parent != is.Parent || h.Origin != is.Origin:
		return "origin"
	case apart(h.Created, is.Created) || apart(h.Updated, is.Updated) || apart(h.WakeAt, is.WakeAt) && !halted:
		return "time"
	}
	return ""
}

// VerifyFile reads an export, and checks its signature with a public key; nil: it checks no
// signature. With a key, an export that is not signed is not intact. The error says why the
// file cannot be read, and not that the log is not intact.
func VerifyFile(r io.Reader, key ed25519.PublicKey) (Verified, error) {
	f := importFile{in: bufio.NewReader(r)}
	err := f.read()
	v := Verified{Run: f.head.Run, Intact: err == nil, Redacted: f.head.Redacted, Signature: "none"}
	damage, ok := errors.AsType[*DamagedError](err)
	switch next := f.state.Seq() + 1; {
	case ok && next <= max(f.head.Entries, 1):
		v.broken(next, damage.Error())
	case ok:
		v.broken(0, damage.Error())
	case err != nil:
		return v, fmt.Errorf("verify: %w", err)
	case !f.ended && next <= f.head.Entries:
		v.broken(next, fmt.Sprintf("the file ends at entry %d of %d", next-1, f.head.Entries))
	case !f.ended:
		v.broken(0, "the end of the file is missing")
	}
	f.into(&v)
	if f.head.Redacted {
		v.Digest = f.end.Log
	} else {
		v.digests = f.digests
	}
	v.sign(&f, key)
	return v, nil
}

// sign checks the signature of an export.
func (v *Verified) sign(f *importFile, key ed25519.PublicKey) {
	switch {
	case !f.ended || key == nil && f.signature != nil:
		v.Signature = "unchecked"
	case key == nil:
	case f.signature == nil:
		if v.Intact {
			v.broken(0, "the export is not signed")
		}
	case ed25519.Verify(key, f.signed, f.signature):
		v.Signature = "valid"
	default:
		v.Signature = "wrong"
		if v.Intact {
			v.broken(0, "the signature is not of this key")
		}
	}
}

// headOf returns the head of a run that has entries.
func headOf(ctx context.Context, j pawl.Journal, run string) (pawl.Head, error) {
	for h, err := range j.List(ctx, pawl.Query{Run: run}) {
		if err != nil || h.Run == run {
			if err == nil && h.Seq == 0 {
				err = errors.New("it has no entries: it was never started")
			}
			return h, err
		}
	}
	return pawl.Head{}, pawl.ErrUnknownRun
}
