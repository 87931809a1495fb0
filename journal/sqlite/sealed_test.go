package sqlite_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/seal"
	"github.com/pawl-run/pawl/journal/sqlite"
)

// keys are keys of which each is 32 times its id.
func keys(t *testing.T, ids ...string) seal.Codec {
	t.Helper()
	var all []seal.Key
	for _, id := range ids {
		all = append(all, seal.Key{ID: id, Secret: bytes.Repeat([]byte(id), 32)})
	}
	k, err := seal.NewKeys(all...)
	must(t, err)
	return k
}

const plain = "the plain text of a run"

// written opens a database with a codec and adds an entry, a signal, a record and a blob of which all say plain.
func written(t *testing.T, path, run string, codec seal.Codec) {
	t.Helper()
	j, err := sqlite.Open(t.Context(), path, &sqlite.Options{Codec: codec})
	must(t, err)
	defer func() { must(t, j.Close()) }()
	l, err := j.Claim(t.Context(), pawl.Claim{Run: run, Owner: "me", TTL: 1, New: true})
	must(t, err)
	record := []byte(`{"text":"` + plain + `"}`)
	must(t, j.Append(t.Context(), pawl.Batch{Run: run, Epoch: l.Epoch, Records: [][]byte{record, record}, Head: pawl.Head{Agent: "desk", Labels: map[string]string{"team": "ops"}}, Text: plain}))
	_, err = j.Send(t.Context(), pawl.Signal{Run: run, Kind: pawl.SignalAnswer, Request: "c_1", Body: record})
	must(t, err)
	must(t, j.PutBlob(t.Context(), digest(), []byte(plain)))
	must(t, j.Keep(t.Context(), run, nil, record[:1]))
	must(t, j.Keep(t.Context(), run, record[:1], record))
}

func digest() string {
	sum := sha256.Sum256([]byte(plain))
	return hex.EncodeToString(sum[:])
}

// opened reads what was written, and returns the first error.
func opened(t *testing.T, path, run string, codec seal.Codec) error {
	t.Helper()
	j, err := sqlite.Open(t.Context(), path, &sqlite.Options{Codec: codec})
	must(t, err)
	defer func() { must(t, j.Close()) }()
	for head, err := range j.List(t.Context(), pawl.Query{Run: run}) {
		if must(t, err); head.Agent != "desk" || head.Labels["team"] != "ops" {
			t.Errorf("the head is %+v", head)
		}
	}
	var all []error
	n := 0
	for row, err := range j.Read(t.Context(), run, 2) {
		if all = append(all, err); err == nil && strings.Contains(string(row.Data), plain) {
			n++
		}
	}
	for l, err := range j.Signals(t.Context(), run, 0) {
		if all = append(all, err); err == nil && strings.Contains(string(l.Body), plain) {
			n++
		}
	}
	for k, err := range j.Kept(t.Context(), run) {
		if all = append(all, err); err == nil && strings.Contains(string(k.Data), plain) {
			n++
		}
	}
	data, err := j.Blob(t.Context(), digest())
	if all = append(all, err); string(data) == plain {
		n++
	}
	failed := 0
	for _, err := range all {
		if err != nil {
			failed++
		}
	}
	if n+failed != 4 {
		t.Errorf("%d of four texts are read, and there are %d errors", n, failed)
	}
	return errors.Join(all...)
}

// No file of a sealed database has a text, and it opens with its key only. Heads need no key.
func TestSealed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	written(t, path, "r", keys(t, "a"))
	files, err := filepath.Glob(path + "*")
	must(t, err)
	for _, file := range files {
		data, err := os.ReadFile(file)
		must(t, err)
		for _, text := range []string{plain, "plain"} {
			if bytes.Contains(data, []byte(text)) {
				t.Errorf("%s has %q", file, text)
			}
		}
	}
	must(t, opened(t, path, "r", keys(t, "b", "a")))
	other, err := seal.NewKeys(seal.Key{ID: "a", Secret: bytes.Repeat([]byte("x"), 32)})
	must(t, err)
	for codec, why := range map[seal.Codec]string{
		nil: "sealed with the key a, which is not given", keys(t, "b"): "sealed with the key a, which is not given", other: "the key a does not open it",
	} {
		err := opened(t, path, "r", codec)
		if _, is := errors.AsType[*seal.KeyError](err); !is || strings.Count(err.Error(), why) != 4 {
			t.Errorf("it opens with %v", err)
		}
	}
}

// Keys are replaced while the database is in use, and one that had none gets one.
func TestSealedLater(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	written(t, path, "open", nil)
	written(t, path, "old", keys(t, "a"))
	written(t, path, "new", keys(t, "b", "a"))
	for _, run := range []string{"open", "old", "new"} {
		must(t, opened(t, path, run, keys(t, "b", "a")))
	}
	j, err := sqlite.Open(context.Background(), path, &sqlite.Options{Codec: keys(t, "b", "a")})
	must(t, err)
	defer func() { must(t, j.Close()) }()
	// The signal is the same, whatever key sealed it.
	first, err := j.Send(t.Context(), pawl.Signal{Run: "old", Kind: pawl.SignalAnswer, Request: "c_1", Body: []byte(`{"text":"` + plain + `"}`)})
	if err != nil || first.ID == 0 {
		t.Errorf("%+v, %v", first, err)
	}
}
