package sqlite_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/sqlite"
)

// TestOtherPrograms holds that what other programs do to a database leaves one that opens, is
// whole, and can be appended to.
func TestOtherPrograms(t *testing.T) {
	python := func(script string) func(*testing.T, string) string {
		return func(t *testing.T, path string) string {
			t.Helper()
			out, err := exec.Command("python3", "-c", "import sqlite3, sys\nc = sqlite3.connect(sys.argv[1])\n"+script, path).CombinedOutput()
			if err != nil && exec.Command("python3", "-c", "import sqlite3").Run() != nil {
				if os.Getenv("CI") != "" {
					t.Fatal("python3 is missing")
				}
				t.Skip("no python3 with sqlite3 here")
			}
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			return strings.TrimSpace(string(out))
		}
	}
	for name, do := range map[string]func(t *testing.T, path string) (other string){
		"vacuum through the driver": func(t *testing.T, path string) string { raw(t, path, `VACUUM`); return "" },
		"pages of another size": func(t *testing.T, path string) string {
			raw(t, path, `PRAGMA journal_mode = DELETE; PRAGMA page_size = 8192; VACUUM`)
			return ""
		},
		"vacuum":     python(`c.execute("VACUUM")`),
		"checkpoint": python(`c.execute("PRAGMA wal_checkpoint(TRUNCATE)"); c.execute("PRAGMA journal_mode = DELETE")`),
		"backup":     python("d = sqlite3.connect(sys.argv[1] + '.copy')\nc.backup(d)\nd.close()\nprint(sys.argv[1] + '.copy')"),
	} {
		t.Run(name, func(t *testing.T) {
			path, blob := filled(t)
			if copied := do(t, path); copied != "" {
				path = copied
			}
			must(t, use(t, path, blob))
			j := openAt(t, path, nil)
			must(t, j.Check(t.Context()))
			l, err := j.Claim(t.Context(), pawl.Claim{Run: "r", Owner: "me", TTL: time.Minute, Over: 1})
			must(t, err)
			add(t, j, l, 100, "after")
			if got := log(t.Context(), t, j); len(got) != 101 || got[100] != "after" {
				t.Errorf("read %q", got)
			}
		})
	}
}

// TestCheck finds a page that SQLite did not write, even if nothing reads it.
func TestCheck(t *testing.T) {
	path, _ := filled(t)
	j := openAt(t, path, &sqlite.Options{ReadOnly: true})
	must(t, j.Check(t.Context()))
	must(t, j.Close())
	db, err := os.ReadFile(path)
	must(t, err)
	page := db[len(db)-4096:]
	for i := range page {
		page[i] = 0xa5
	}
	must(t, os.WriteFile(path, db, 0o600))
	err = openAt(t, path, nil).Check(t.Context())
	if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "is damaged; restore the database from a copy") {
		t.Errorf("the error is %v", err)
	}
}
