package sqlite_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/sqlite"
)

// everything is all that a database says, as text.
func everything(ctx context.Context, path, blob string) (string, error) {
	j, err := sqlite.Open(ctx, path, &sqlite.Options{ReadOnly: true})
	if err != nil {
		return "", err
	}
	var b strings.Builder
	var errs []error
	for h, err := range j.List(ctx, pawl.Query{}) {
		fmt.Fprintln(&b, h)
		errs = append(errs, err)
		for r, err := range j.Read(ctx, h.Run, 0) {
			fmt.Fprintln(&b, r.Seq, string(r.Data))
			errs = append(errs, err)
		}
	}
	for l, err := range j.Signals(ctx, "", 0) {
		fmt.Fprintln(&b, l.ID, l.Run, l.Kind, l.Request, l.By, string(l.Body), l.Time)
		errs = append(errs, err)
	}
	data, err := j.Blob(ctx, blob)
	b.Write(data)
	return b.String(), errors.Join(append(errs, err, j.Close())...)
}

// TestFlipped turns one bit in every few bytes of a database, and in every byte
// of its head, or with PAWL_PROOF in every byte: it says what it said before, or
// that it is damaged.
func TestFlipped(t *testing.T) {
	t.Parallel()
	path, blob := filled(t)
	j := openAt(t, path, nil)
	for i := range 5 {
		if _, err := j.Send(t.Context(), pawl.Signal{Run: "r", Kind: pawl.SignalDecision, Request: fmt.Sprint(i), By: "ann", Body: json.RawMessage(`{"approve":false}`)}); err != nil {
			t.Fatal(err)
		}
		l, err := j.Claim(t.Context(), pawl.Claim{Run: fmt.Sprint("run-", i), TTL: time.Minute, New: true})
		must(t, err)
		add(t, j, l, 0, "one")
	}
	must(t, j.Close())
	want, err := everything(t.Context(), path, blob)
	must(t, err)
	db, err := os.ReadFile(path)
	must(t, err)
	// No sum of ours stands beside what somebody decided.
	denied, approved := []byte(`{"approve":false}`), []byte(`{"approve":true }`)
	forged := filepath.Join(filepath.Dir(path), "forged.db")
	must(t, os.WriteFile(forged, bytes.Replace(db, denied, approved, 1), 0o600))
	if got, err := everything(t.Context(), forged, blob); err == nil || strings.Contains(got, string(approved)) {
		t.Errorf("a letter that was changed: %v", err)
	}
	noticed, flips := 0, 0
	for at := 0; at < len(db); at++ {
		if at >= 100 {
			at += bytewise(t, 411) - 1
		}
		if at >= len(db) {
			break
		}
		flipped := filepath.Join(filepath.Dir(path), "flipped.db")
		bit := byte(1) << (at % 8)
		db[at] ^= bit
		must(t, os.WriteFile(flipped, db, 0o600))
		db[at] ^= bit
		got, err := everything(t.Context(), flipped, blob)
		flips++
		switch {
		case err != nil:
			noticed++
			if !strings.Contains(err.Error(), flipped) {
				t.Errorf("byte %d, bit %08b: the error does not name the file: %v", at, bit, err)
			}
		case got != want:
			t.Errorf("byte %d, bit %08b: nobody noticed, and it says\n%s", at, bit, got)
		}
	}
	t.Logf("%d bytes, %d flips, %d noticed", len(db), flips, noticed)
	if noticed < flips/3 { // the rest is in tables of which nothing is read here
		t.Errorf("of %d flips only %d were noticed", flips, noticed)
	}
	if bytes.Equal(db[20:21], []byte{0}) {
		t.Error("the database has no checksums")
	}
}
