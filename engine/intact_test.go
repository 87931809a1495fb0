package engine_test

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/engine/archive"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/journal/sqlite"
)

// finding is a verification in a line: why not, after the first entry that is not intact.
func finding(v archive.Verified, err error) string {
	switch {
	case err != nil:
		return "error: " + err.Error()
	case v.Intact != (v.Why == nil) || v.Intact && v.Seq != nil:
		return fmt.Sprintf("%+v contradicts itself", v)
	case v.Intact:
		return "intact, signature " + v.Signature
	case v.Seq == nil:
		return *v.Why
	}
	return fmt.Sprintf("entry %d: %s", *v.Seq, *v.Why)
}

// finds checks how a finding begins, and what else is in it.
func finds(t *testing.T, what, got, begins string, has ...string) {
	t.Helper()
	ok := strings.HasPrefix(got, begins)
	for _, part := range has {
		ok = ok && strings.Contains(got, part)
	}
	if !ok {
		t.Errorf("%s: %s; want %s … %s", what, got, begins, has)
	}
}

// changed is a line with other bytes and the same meaning.
func changed(line string) string { return strings.Replace(line, `"type":`, `"type": `, 1) }

// TestVerifyFile edits, drops and swaps each entry of an export, and cuts it there.
func TestVerifyFile(t *testing.T) { // Promises: N11.
	file, from := exported(t, true)
	lines := strings.SplitAfter(strings.TrimSuffix(string(file), "\n"), "\n")
	entries := len(logOf(t, from, "r"))
	check := func(lines ...[]string) string {
		var all strings.Builder
		for _, some := range lines {
			all.WriteString(strings.Join(some, ""))
		}
		return finding(archive.VerifyFile(strings.NewReader(all.String()), nil))
	}
	finds(t, "whole", check(lines), "intact, signature none")
	for n := 1; n <= entries; n++ {
		here, wrong := fmt.Sprintf("entry %d: ", n), fmt.Sprintf("line %d of the export: its digest is wrong", n+1)
		finds(t, "edited", check(lines[:n], []string{changed(lines[n])}, lines[n+1:]), here, wrong)
		finds(t, "dropped", check(lines[:n], lines[n+1:]), here, wrong)
		finds(t, "swapped", check(lines[:n], []string{lines[n+1], lines[n]}, lines[n+2:]), here, wrong)
		if n > 1 {
			finds(t, "cut", check(lines[:n]), here, fmt.Sprintf("the file ends at entry %d of %d", n-1, entries))
		}
	}
	finds(t, "no blob", check(lines[:entries+1], lines[entries+2:]), "line", "the end of 1 blobs comes after 0")
	finds(t, "no end", check(lines[:len(lines)-1]), "the end of the file is missing")
	finds(t, "no head", check(lines[1:]), "entry 1: line 1 of the export")
}

// TestVerifyRedacted: a redacted export verifies by itself, says that it is redacted, and
// names the digest of the log as it is.
func TestVerifyRedacted(t *testing.T) {
	file, from := exported(t, false)
	v, err := archive.VerifyFile(bytes.NewReader(file), nil)
	log, problem := archive.Verify(t.Context(), from, "r", &v)
	if err != nil || problem != nil || !v.Intact || !log.Intact || !v.Redacted || log.Redacted || v.Digest != log.Digest {
		t.Errorf("the file is %+v, %v; the log %+v, %v", v, err, log, problem)
	}
	to, _, err := imports(t, file)
	must(t, err)
	if v, err := archive.Verify(t.Context(), to, "r", nil); err != nil || !v.Intact || !v.Redacted {
		t.Errorf("the import is %+v, %v", v, err)
	}
}

// TestVerifySigned: a signature shows that somebody computed all digests of a file again, and
// nothing else does.
func TestVerifySigned(t *testing.T) {
	public, private, err := ed25519.GenerateKey(nil)
	must(t, err)
	other, _, err := ed25519.GenerateKey(nil)
	must(t, err)
	plain, j := exported(t, true)
	var file bytes.Buffer
	must(t, archive.Export(t.Context(), j, "r", &file, &archive.Options{Raw: true, Key: private}))
	check := func(file []byte, key ed25519.PublicKey) string {
		return finding(archive.VerifyFile(bytes.NewReader(file), key))
	}
	finds(t, "signed", check(file.Bytes(), public), "intact, signature valid")
	finds(t, "without a key", check(file.Bytes(), nil), "intact, signature unchecked")
	finds(t, "another key", check(file.Bytes(), other), "the signature is not of this key")
	finds(t, "unsigned", check(plain, public), "the export is not signed")

	lines := strings.SplitAfter(file.String(), "\n")
	signature := lines[len(lines)-2]
	forged := unsealed([]byte(strings.Join(lines[:len(lines)-2], "")))
	forged[3] = changed(forged[3])
	forge := func() []byte { return append(sealed(forged...), signature...) }
	finds(t, "forged", check(forge(), nil), "line", "it is the end of another log")
	last := strings.Split(string(sealed(forged...)), "\n")[len(logOf(t, j, "r"))]
	digest := last[len(last)-66 : len(last)-2]
	end := &forged[len(forged)-1]
	at := strings.Index(*end, `"log":"`) + len(`"log":"`)
	*end = (*end)[:at] + digest + (*end)[at+len(digest):]
	finds(t, "well forged", check(forge(), nil), "intact, signature unchecked")
	finds(t, "well forged and signed", check(forge(), public), "the signature is not of this key")
	if _, _, err := imports(t, file.Bytes()); err != nil {
		t.Errorf("importing a signed export: %v", err)
	}
}

// TestVerifyDatabase changes a database by hand, at each entry.
func TestVerifyDatabase(t *testing.T) { // Promises: N11.
	file, from := exported(t, true)
	anchor, err := archive.VerifyFile(bytes.NewReader(file), nil)
	must(t, err)
	path := filepath.Join(t.TempDir(), "j.db")
	check := func(anchor *archive.Verified) string {
		j, err := sqlite.Open(t.Context(), path, &sqlite.Options{Normal: true})
		must(t, err)
		defer j.Close()
		return finding(archive.Verify(t.Context(), j, "r", anchor))
	}
	j, err := sqlite.Open(t.Context(), path, &sqlite.Options{Normal: true})
	must(t, err)
	h, lines := headOf(t, from), logOf(t, from, "r")
	l, err := j.Claim(t.Context(), pawl.Claim{Run: "r", TTL: time.Minute, New: true})
	must(t, err)
	for i, line := range lines {
		must(t, j.Append(t.Context(), pawl.Batch{Run: "r", Epoch: l.Epoch, After: uint64(i), Head: h, Records: [][]byte{[]byte(line)}}))
	}
	must(t, j.Close())
	whole, err := os.ReadFile(path)
	must(t, err)
	tamper := func(sql string, anchor *archive.Verified) string {
		must(t, os.WriteFile(path, whole, 0o600))
		c, err := sqlite3.Open(path)
		must(t, err)
		must(t, errors.Join(c.Exec(sql), c.Close()))
		return check(anchor)
	}
	finds(t, "nothing", tamper(`SELECT 1`, &anchor), "intact")
	for n := 1; n <= len(lines); n++ {
		row := fmt.Sprintf(` WHERE id & 4294967295 = %d`, n)
		here := fmt.Sprintf("entry %d: ", n)
		finds(t, "edited", tamper(`UPDATE batches SET data = CAST(data || ' ' AS BLOB)`+row, nil), here, "does not match its digest")
		finds(t, "another digest", tamper(`UPDATE batches SET digests = zeroblob(32)`+row, nil), here, "does not match its digest")
		cut := tamper(fmt.Sprintf(`DELETE FROM batches WHERE id & 4294967295 >= %d`, n), &anchor)
		if n < len(lines) {
			finds(t, "dropped", tamper(`DELETE FROM batches`+row, nil), here, fmt.Sprintf("entry %d is followed by %d", n-1, n+1))
		}
		if n > 1 {
			finds(t, "cut off", cut, here, "the export has")
		}
	}
	for sql, what := range map[string]string{
		`UPDATE runs SET status = 'success'`:                                "status",
		`UPDATE batches SET cost = 1`:                                       "cost",
		`UPDATE batches SET iterations = 9`:                                 "number of iterations",
		`UPDATE runs SET agent = 'x'`:                                       "agent",
		`UPDATE runs SET created = 1`:                                       "time",
		`UPDATE runs SET labels = '{"a":"b"}'`:                              "label",
		`UPDATE runs SET thread = 'x'`:                                      "origin",
		`DELETE FROM batches WHERE id = (SELECT max(id) FROM batches)`:      "status",
		`UPDATE runs SET wake_at = 9; UPDATE runs SET status = 'exhausted'`: "time",
	} {
		finds(t, sql, tamper(sql, nil), "the list of runs has another "+what)
	}
	// Somebody writes the log again, with the digests of the changed lines.
	for n := range lines {
		other := append([]string{}, lines...)
		other[n] = changed(other[n])
		again := written(t, h, other)
		finds(t, "rewritten", finding(archive.Verify(t.Context(), again, "r", nil)), "intact")
		finds(t, "rewritten", finding(archive.Verify(t.Context(), again, "r", &anchor)), fmt.Sprintf("entry %d: it is not the entry of the export", n+1))
	}
}

// written is a journal with a log of other lines, whose digests are right.
func written(t *testing.T, h pawl.Head, lines []string) pawl.Journal {
	t.Helper()
	j := memory.New()
	l, err := j.Claim(t.Context(), pawl.Claim{Run: h.Run, TTL: time.Minute, New: true})
	must(t, err)
	b := pawl.Batch{Run: h.Run, Epoch: l.Epoch, Head: h}
	for _, line := range lines {
		b.Records = append(b.Records, []byte(line))
	}
	must(t, j.Append(t.Context(), b))
	return j
}

func headOf(t *testing.T, j pawl.Journal) (h pawl.Head) {
	t.Helper()
	for head, err := range j.List(t.Context(), pawl.Query{}) {
		must(t, err)
		h = head
	}
	return h
}

// TestVerifyFork: a fork, and a fork of it, prove by themselves that the entries that they
// share are those of the other run.
func TestVerifyFork(t *testing.T) {
	_, j := exported(t, true)
	e := engine.New(j, nil)
	agent := pawl.Agent{Name: "clerk", Model: turns([]pawl.Call{call("wordy", 1)}), Tools: []pawl.Tool{wordy}}
	agent.Limits.Iterations = 1
	export := func(run string) string {
		var file bytes.Buffer
		must(t, archive.Export(t.Context(), j, run, &file, &archive.Options{Raw: true}))
		return file.String()
	}
	run := "r"
	for _, at := range []uint64{1, 3} {
		h, err := e.Fork(t.Context(), agent, run, at, &engine.ForkOptions{AllowSpent: true, AllowChange: true})
		must(t, err)
		_, err = h.Wait(t.Context())
		must(t, err)
		run = h.ID()
		finds(t, "a fork", finding(archive.Verify(t.Context(), j, run, nil)), "intact")
		for e, err := range engine.Entries(t.Context(), j, run, at+1) {
			must(t, err)
			if fork, ok := e.Event.(pawl.RunForked); ok && !strings.Contains(export(fork.From), `"digest":"`+fork.Digest+`"}`) {
				t.Errorf("the log of run %s never had the digest %s", fork.From, fork.Digest)
			}
		}
	}
	file := export(run)
	finds(t, "its export", finding(archive.VerifyFile(strings.NewReader(file), nil)), "intact")
	again, _, err := imports(t, []byte(file))
	must(t, err)
	other := logOf(t, j, run)
	other[0] = strings.Replace(other[0], `"input":"go"`, `"input":"no"`, 1)
	finds(t, "another start", finding(archive.Verify(t.Context(), written(t, headOf(t, again), other), run, nil)), "entry 2: the entries before it are not those of run r")
	finds(t, "its import", finding(archive.Verify(t.Context(), again, run, nil)), "intact")
}
