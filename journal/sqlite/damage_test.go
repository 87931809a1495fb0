package sqlite_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/retry"
	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/journal/sqlite"
)

// filled is the path of a closed database with one run of a hundred records, and a blob.
func filled(t *testing.T) (path, blob string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "filled.db")
	j := openAt(t, path, nil)
	l, err := j.Claim(t.Context(), pawl.Claim{Run: "r", TTL: time.Minute, New: true})
	must(t, err)
	for n := range uint64(50) {
		b := pawl.Batch{Run: "r", Epoch: l.Epoch, After: n * 2, Head: pawl.Head{Status: pawl.StatusRunning}}
		b.Records = [][]byte{fmt.Appendf(nil, "first %03d %0300d", n, 0), fmt.Appendf(nil, "second %03d", n)}
		must(t, j.Append(t.Context(), b))
	}
	data := bytes.Repeat([]byte("blob"), 100)
	sum := sha256.Sum256(data)
	blob = hex.EncodeToString(sum[:])
	must(t, j.PutBlob(t.Context(), blob, data))
	must(t, j.Close())
	return path, blob
}

// use does all that reads, and returns what goes wrong.
func use(t *testing.T, path, blob string) error {
	t.Helper()
	j, err := sqlite.Open(t.Context(), path, nil)
	if err != nil {
		return err
	}
	var errs []error
	n := 0
	for r, err := range j.Read(t.Context(), "r", 0) {
		if n++; err == nil && r.Seq != uint64(n) {
			t.Errorf("record %d is handed out as number %d", r.Seq, n)
		}
		errs = append(errs, err)
	}
	for _, err := range j.List(t.Context(), pawl.Query{}) {
		errs = append(errs, err)
	}
	_, err = j.Blob(t.Context(), blob)
	return errors.Join(append(errs, err, j.Close())...)
}

func TestDamage(t *testing.T) {
	check.SkipShort(t, "one goroutine after another, in which the race detector has nothing to see: -short")
	replace := func(old, with string) func([]byte) []byte {
		return func(db []byte) []byte { return bytes.Replace(db, []byte(old), []byte(with), 1) }
	}
	for name, harm := range map[string]func([]byte) []byte{
		"a record's byte":   replace("first 020", "first 021"),
		"a blob's byte":     replace("blobblob", "blobBlob"),
		"half the file":     func(db []byte) []byte { return db[:len(db)/2] },
		"a page and a bit":  func(db []byte) []byte { return db[:2048+100] },
		"the first bytes":   func(db []byte) []byte { return append([]byte("no database at all"), db[18:]...) },
		"pages of zeroes":   func(db []byte) []byte { clear(db[2048:]); return db },
		"a text":            func([]byte) []byte { return []byte("just a text\n") },
		"all but the start": func(db []byte) []byte { return db[:50] },
	} {
		t.Run(name, func(t *testing.T) {
			path, blob := filled(t)
			db, err := os.ReadFile(path)
			must(t, err)
			was := bytes.Clone(db)
			db = harm(db)
			if bytes.Equal(was, db) {
				t.Fatal("nothing was harmed")
			}
			must(t, os.WriteFile(path, db, 0o600))
			err = use(t, path, blob)
			if err == nil {
				t.Fatal("nobody noticed")
			}
			if text := err.Error(); !strings.Contains(text, path) || !strings.Contains(text, "damaged") || retry.Temporary(err) {
				t.Errorf("the error does not say which file is damaged: %v", err)
			}
		})
	}
}

// TestAltered checks that a record is known to be another although nothing is
// wrong with the database.
func TestAltered(t *testing.T) {
	for name, c := range map[string]struct{ sql, says string }{
		"first":  {`UPDATE batches SET data = CAST(replace(CAST(data AS TEXT), 'first 020', 'first 021') AS BLOB) WHERE id & 4294967295 = 42`, "41: it does not match its digest"},
		"second": {`UPDATE batches SET data = CAST(replace(CAST(data AS TEXT), 'second 020', 'second 021') AS BLOB) WHERE id & 4294967295 = 42`, "42: it does not match its digest"},
		"sizes":  {`UPDATE batches SET sizes = x'05' WHERE id & 4294967295 = 42`, "41: it does not match its digest"},
		"digest": {`UPDATE batches SET digests = substr(digests, 1, 32) WHERE id & 4294967295 = 42`, "42: it does not match its digest"},
		"hole":   {`DELETE FROM batches WHERE id & 4294967295 = 40`, "39: entry 38 is followed by 41"},
		"start":  {`DELETE FROM batches WHERE id & 4294967295 = 2`, "1: entry 0 is followed by 3"},
		"place":  {`UPDATE batches SET id = id + 1000 WHERE id & 4294967295 = 100`, "99: entry 98 is followed by 1099"},
		"copied": {`UPDATE batches SET (sizes, digests, data) = (SELECT sizes, digests, data FROM batches AS b WHERE b.id & 4294967295 = 84) WHERE id & 4294967295 = 82`, "81: it does not match its digest"},
	} {
		t.Run(name, func(t *testing.T) {
			path, blob := filled(t)
			raw(t, path, c.sql)
			err := use(t, path, blob)
			if err == nil || !strings.Contains(err.Error(), "journal "+path+": run r: the log is damaged at entry "+c.says+"; restore the database from a copy") || retry.Temporary(err) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// raw runs SQL on a database that no journal has open.
func raw(t *testing.T, path, sql string) {
	t.Helper()
	c, err := sqlite3.Open(path)
	must(t, err)
	must(t, errors.Join(c.Exec(sql), c.Close()))
}
