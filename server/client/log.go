package client

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/url"
	"strconv"

	"github.com/pawl-run/pawl"
)

// Entries yields a run's log as it is now, after entry after (zero: from the first), page
// by page. The server has removed secrets.
func (c *Client) Entries(ctx context.Context, run string, after uint64) iter.Seq2[pawl.Entry, error] {
	return func(yield func(pawl.Entry, error) bool) {
		for row, err := range c.Rows(ctx, run, after) {
			var e pawl.Entry
			if err == nil {
				e, err = c.entry(run, row.Data)
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// entriesAtOnce is how many entries a page has. Servers send fewer if they are large.
const entriesAtOnce = "2000"

// Rows is [Client.Entries] without decoding, which also works for logs of other builds.
func (c *Client) Rows(ctx context.Context, run string, after uint64) iter.Seq2[pawl.Row, error] {
	return func(yield func(pawl.Row, error) bool) {
		k := get("v1", "runs", run, "events")
		k.query = url.Values{"max": {entriesAtOnce}}
		if after > 0 {
			k.query.Set("cursor", strconv.FormatUint(after+1, 10))
		}
		for last := after; ; {
			var page Entries
			if err := c.do(ctx, k, &page); err != nil {
				yield(pawl.Row{}, err)
				return
			}
			for _, line := range page.Entries {
				seq, err := seqOf(line)
				if err == nil && seq > last+1 {
					err = fmt.Errorf("run %s: the server sent entry %d after entry %d", run, seq, last)
				}
				if err != nil {
					yield(pawl.Row{}, err)
					return
				}
				if seq <= last {
					continue
				}
				last = seq
				if !yield(pawl.Row{Seq: seq, Data: line}, nil) {
					return
				}
			}
			if len(page.Entries) == 0 || page.Next == "" || page.Next == k.query.Get("cursor") {
				return
			}
			k.query.Set("cursor", page.Next)
		}
	}
}

// entry decodes an entry from the server, and checks that it belongs to the run.
func (c *Client) entry(run string, line []byte) (pawl.Entry, error) {
	e, err := pawl.DecodeEntry(line)
	if err == nil && e.Run != run {
		err = fmt.Errorf("the server sent an entry of run %s", e.Run)
	}
	if err != nil {
		return pawl.Entry{}, fmt.Errorf("run %s: %w", run, err)
	}
	return e, nil
}

// seqOf decodes only the seq of an entry.
func seqOf(line []byte) (uint64, error) {
	var head struct {
		Seq uint64 `json:"seq"`
	}
	err := json.Unmarshal(line, &head)
	return head.Seq, err
}
