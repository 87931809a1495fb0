package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/ncruces/go-sqlite3"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/journal/memory"
	"github.com/pawl-run/pawl/journal/sqlite"
	"github.com/pawl-run/pawl/tool"
)

// file returns the name of the newest file.
func (b *bench) file() string { return filepath.Join(b.dir, fmt.Sprintf("%d.db", b.files)) }

func (b *bench) newFile() string {
	b.files++
	return b.file()
}

// open opens a new journal on disk.
func (b *bench) open(normal bool) (j *sqlite.Journal) {
	b.try(func() (err error) {
		j, err = sqlite.Open(b.ctx, b.newFile(), &sqlite.Options{Normal: normal})
		if err == nil {
			b.opened = append(b.opened, j.Close)
		}
		return err
	})
	return j
}

// commits is a journal that records the bytes of each commit.
type commits struct {
	*memory.Journal
	data [][]byte
}

func (c *commits) Append(ctx context.Context, b pawl.Batch) error {
	c.data = append(c.data, bytes.Join(b.Records, nil))
	return c.Journal.Append(ctx, b)
}

// bare is a minimal program with one connection and one statement.
type bare struct {
	do  *sqlite3.Stmt
	seq int64
}

func (b *bench) bareOn(file, setup, statement string) *bare {
	f := &bare{}
	b.try(func() error {
		c, err := sqlite3.Open(file)
		if err != nil {
			return err
		}
		b.opened = append(b.opened, c.Close)
		if err := c.Exec(setup); err != nil {
			return err
		}
		f.do, _, err = c.PrepareFlags(statement, sqlite3.PREPARE_PERSISTENT)
		b.opened = append(b.opened, f.do.Close)
		return err
	})
	return f
}

// appends is a minimal program with its own table.
func (b *bench) appends(synchronous string) *bare {
	return b.bareOn(b.newFile(), `PRAGMA journal_mode = WAL; PRAGMA synchronous = `+synchronous+`; CREATE TABLE log (seq INTEGER PRIMARY KEY, data BLOB)`,
		`INSERT INTO log VALUES (?, ?)`)
}

// append commits each piece separately.
func (f *bare) append(commits [][]byte) error {
	for _, data := range commits {
		f.seq++
		if err := f.do.BindInt64(1, f.seq); err != nil {
			return err
		}
		if err := f.do.BindBlob(2, data); err != nil {
			return err
		}
		if err := f.do.Exec(); err != nil {
			return err
		}
	}
	return nil
}

// reads is a minimal program that reads the rows of a run.
func (b *bench) reads(file string) *bare {
	return b.bareOn(file, "", `SELECT data FROM batches WHERE id BETWEEN (SELECT ref FROM runs WHERE id = ?1) << 32
		AND ((SELECT ref FROM runs WHERE id = ?1) << 32) + 4294967295 ORDER BY id`)
}

func (f *bare) read(run string) error {
	if err := f.do.BindText(1, run); err != nil {
		return err
	}
	n := 0
	for f.do.Step() {
		n += len(f.do.ColumnBlob(0, nil))
	}
	if err := f.do.Reset(); err != nil || n > 0 {
		return err
	}
	return fmt.Errorf("run %s has no rows", run)
}

// asking adds n times and then asks a person.
func asking(n int) pawl.Agent {
	count := counting(n)
	a := counter(n)
	a.Tools = append(a.Tools, tool.AskHuman())
	a.Model = pawl.ModelFunc(func(ctx context.Context, r pawl.Request) (pawl.Reply, error) {
		if len(r.Messages)/2 == n {
			return pawl.Do(pawl.Call{Tool: "ask_human", Args: json.RawMessage(`{"question":"Go on?"}`)}), nil
		}
		return count(ctx, r)
	})
	return a
}
