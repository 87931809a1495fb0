// Package shared has what the journals check alike: the errors of runs, leases and ends of logs, the limits
// of batches, signals and blobs, how records are joined, and how signals are read in portions.
package shared

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"

	"github.com/pawl-run/pawl"
)

// MaxBytes bounds one batch, signal or blob of a database.
const MaxBytes = 64 << 20

// Unknown is the error of a run that the journal does not have.
func Unknown(run string) error { return fmt.Errorf("run %s: %w", run, pawl.ErrUnknownRun) }

// Fenced is the error of a caller whose epoch is not that of the lease.
func Fenced(run string, have, want uint64) error {
	return fmt.Errorf("run %s: the caller has epoch %d, the lease is at %d: %w", run, have, want, pawl.ErrFenced)
}

// Conflict is the error of a batch that does not begin at the end of the log.
func Conflict(run string, end, after uint64) error {
	return fmt.Errorf("run %s: the log ends at %d, not at %d: %w", run, end, after, pawl.ErrConflict)
}

// CheckBatch refuses a batch that is empty, too large, or ends after the record most.
func CheckBatch(b *pawl.Batch, most uint64) error {
	size := 0
	for _, r := range b.Records {
		size += len(r)
	}
	last := b.After + uint64(len(b.Records))
	switch {
	case len(b.Records) == 0:
		return fmt.Errorf("run %s: a batch needs at least one record", b.Run)
	case size > MaxBytes:
		return fmt.Errorf("run %s: a batch of %d bytes exceeds the limit of %d", b.Run, size, MaxBytes)
	case last > most || last < b.After:
		return fmt.Errorf("run %s: a log ends at record %d: %w", b.Run, most, pawl.ErrConflict)
	}
	return nil
}

// Join concatenates records. sizes are the lengths of all but the last, as varints.
func Join(records [][]byte) (data, sizes []byte) {
	size := 0
	for _, r := range records {
		size += len(r)
	}
	data = make([]byte, 0, size)
	for i, r := range records {
		data = append(data, r...)
		if i < len(records)-1 {
			sizes = binary.AppendUvarint(sizes, uint64(len(r)))
		}
	}
	return data, sizes
}

// Split cuts data into the records that Join concatenated. Appending to one cannot
// overwrite the next.
func Split(data, sizes []byte) (records [][]byte, err error) {
	for len(sizes) > 0 {
		n, w := binary.Uvarint(sizes)
		if w <= 0 || n > uint64(len(data)) {
			return nil, errors.New("their sizes do not fit")
		}
		records = append(records, data[:n:n])
		data, sizes = data[n:], sizes[w:]
	}
	return append(records, data[:len(data):len(data)]), nil
}

// CheckSignal refuses a signal that is too large, and returns the name of its kind.
func CheckSignal(l *pawl.Signal) (kind string, err error) {
	name, err := l.Kind.MarshalText()
	if err != nil {
		return "", err
	}
	if len(l.Body) > MaxBytes {
		return "", fmt.Errorf("run %s: a signal of %d bytes exceeds the limit of %d", l.Run, len(l.Body), MaxBytes)
	}
	return string(name), nil
}

// Signals yields signals in portions: read returns some of those with an ID above after,
// and none at the end.
func Signals(after int64, read func(after int64) ([]pawl.Signal, error)) iter.Seq2[pawl.Signal, error] {
	return func(yield func(pawl.Signal, error) bool) {
		for after := after; ; {
			signals, err := read(after)
			for _, l := range signals {
				if !yield(l, nil) {
					return
				}
				after = l.ID
			}
			if err != nil {
				yield(pawl.Signal{}, err)
			}
			if err != nil || len(signals) == 0 {
				return
			}
		}
	}
}

// CheckBlob refuses data that is too large or does not have the digest, and returns
// the bytes of the digest.
func CheckBlob(digest string, data []byte) (key []byte, err error) {
	sum := sha256.Sum256(data)
	switch {
	case digest != hex.EncodeToString(sum[:]):
		return nil, fmt.Errorf("blob %s: the data has the SHA-256 %x", digest, sum)
	case len(data) > MaxBytes:
		return nil, fmt.Errorf("blob %s: %d bytes exceed the limit of %d", digest, len(data), MaxBytes)
	}
	return sum[:], nil
}

// HasLabels reports whether a run has all the labels that are wanted.
func HasLabels(have, want map[string]string) bool {
	for k, v := range want {
		if got, ok := have[k]; !ok || got != v {
			return false
		}
	}
	return true
}

// AfterPrefix returns the first string after all strings with a prefix, by bytes; empty
// if there is none.
func AfterPrefix(prefix string) string {
	b := []byte(prefix)
	for len(b) > 0 {
		if b[len(b)-1]++; b[len(b)-1] != 0 {
			return string(b)
		}
		b = b[:len(b)-1]
	}
	return ""
}
