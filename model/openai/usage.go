package openai

import (
	"bytes"
	"strconv"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/internal/provider"
)

// A figure is a number of tokens, which some servers write as a text or as null.
type figure struct {
	n    int
	told bool
}

// UnmarshalJSON never fails: what is no number of tokens was not told.
func (f *figure) UnmarshalJSON(b []byte) error {
	x, err := strconv.ParseFloat(string(bytes.Trim(b, `"`)), 64)
	f.n, f.told = int(min(max(x, 0), 1e12)), err == nil && x >= 0
	return nil
}

// counts is a usage as a server tells it.
type counts struct {
	input, output, total, reasoning figure
	read, written, long             int
}

// book sets the usage of a reply. Servers differ in what their figures include, so the most that
// they say anywhere counts: the total without the input, where that is more than the output, and
// reasoning beside an output of which it cannot be a part. A figure that is missing is estimated
// from the bytes that were sent and received. Some servers tell the totals so far in every event,
// so each figure is the largest of all.
func (c counts) book(t *provider.Turn, received int) {
	if !c.input.told && !c.output.told && !c.total.told {
		return
	}
	const bytesPerToken = 3
	u := pawl.Usage{Input: c.input.n, Output: c.output.n, CacheRead: c.read, CacheWrite: max(c.written, c.long), CacheLong: c.long, Reasoning: c.reasoning.n}
	if !c.input.told || u.Input == 0 && u.Output > 0 { // no request is without input
		c.input.told, u.Input = false, t.Sent/bytesPerToken
	}
	u.Input = max(u.Input, u.CacheRead+u.CacheWrite)
	if !c.output.told {
		u.Output = received / bytesPerToken
	}
	if u.Reasoning > u.Output {
		u.Output += u.Reasoning
	}
	if c.input.told {
		u.Output = max(u.Output, c.total.n-c.input.n)
	}
	old := t.Usage
	t.Told = true
	t.Usage = pawl.Usage{
		Input: max(old.Input, u.Input), Output: max(old.Output, u.Output), CacheRead: max(old.CacheRead, u.CacheRead),
		CacheWrite: max(old.CacheWrite, u.CacheWrite), CacheLong: max(old.CacheLong, u.CacheLong), Reasoning: max(old.Reasoning, u.Reasoning),
		Searches: old.Searches, Sessions: old.Sessions,
	}
}
