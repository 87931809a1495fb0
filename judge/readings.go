package judge

import (
	"bytes"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/wire"
)

// Bytes of evidence a judge gets.
const (
	mostFound    = 24 << 10 // of the latest readings
	mostReplaced = 8 << 10  // of those they replaced
	eachFound    = 4 << 10  // of one result
)

// found adds the results of a run, latest first. Of equal calls to a read-only
// tool it adds the last result, and separately those it replaced.
func (b *brief) found(s *pawl.State, claims []string) {
	wanted := map[string]bool{}
	for w := range strings.FieldsSeq(flat(strings.Join(claims, " "))) {
		wanted[w] = true
	}
	latest, left, leftReplaced := map[string]pawl.CallState{}, mostFound, mostReplaced
	for run, ok, ago := s, true, 0; ok; ago++ {
		for c := range run.Recent() {
			if strings.HasPrefix(c.Tool, own) || c.Of != "" || c.Phase != pawl.PhaseAnswered {
				continue
			}
			one := called(c)
			if one.Run, one.Turn = ago, c.Iteration; c.OK() {
				one.Result = densest(wire.Plain(c.Result), wanted)
			}
			key := c.Tool + digest(c)
			later, read := latest[key]
			switch latest[key] = c; {
			case !read || c.Effect != pawl.Read:
				if left -= len(one.Result); left >= 0 {
					b.Found = append(b.Found, one)
				}
			case !bytes.Equal(later.Result, c.Result) || later.Error != c.Error:
				if leftReplaced -= len(one.Result); leftReplaced >= 0 {
					b.Replaced = append(b.Replaced, one)
				}
			}
		}
		run, ok = run.Earlier()
	}
}

// densest returns the part of a text with the most of the wanted words.
func densest(text string, wanted map[string]bool) string {
	best, most := 0, -1
	for from := 0; from < len(text); from += eachFound / 2 {
		hits := 0
		for w := range strings.FieldsSeq(flat(text[from:min(len(text), from+eachFound)])) {
			if wanted[w] {
				hits++
			}
		}
		if hits > most {
			best, most = from, hits
		}
	}
	if len(text) <= eachFound {
		return text
	}
	return strings.ToValidUTF8("… "+text[best:min(len(text), best+eachFound)]+" …", "")
}
