package journaltest

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/pawl-run/pawl"
)

// searcher is a journal that finds runs by their text; see [pawl.Batch].
type searcher interface {
	pawl.Journal
	// Search is List for the runs in whose text each of the given words occurs or begins
	// a word, whatever its case.
	Search(ctx context.Context, words string, q pawl.Query) iter.Seq2[pawl.Head, error]
}

// text creates a run of one record with a text.
func (c *check) text(run, text string, h pawl.Head) pawl.Lease {
	c.Helper()
	l := c.claim(run)
	b := batch(l, 0, "a")
	b.Text, h.Status = text, pawl.StatusRunning
	c.headed(b, h)
	return l
}

func (c *check) finds(words string, q pawl.Query, want ...string) {
	c.Helper()
	s, ok := c.Journal.(searcher)
	if !ok {
		c.Skip("this journal finds no text")
	}
	var got []string
	for h, err := range s.Search(c.Context(), words, q) {
		c.ok(err, "searching")
		got = append(got, h.Run)
	}
	c.same(want, got, fmt.Sprintf("what is found by %q and %+v", words, q))
}

var searches = []rule{
	{"search/words", "a search finds the runs whose text has each word, or a word that begins with it, newest first", func(c *check) {
		c.text("a", "Order 4711 arrived broken.", pawl.Head{})
		c.text("b", "order-4712: Größe, 退款\x00\xff 'q\" \\ %_ & | ! * end", pawl.Head{})
		c.text("c", "", pawl.Head{})
		c.text("d", "{} ???", pawl.Head{}) // no words
		c.finds("ORDER", pawl.Query{}, "b", "a")
		c.finds("arrived order", pawl.Query{}, "a")
		c.finds("471", pawl.Query{}, "b", "a")
		c.finds("rder", pawl.Query{})
		c.finds("GRÖSSE", pawl.Query{})
		c.finds("GRÖ", pawl.Query{}, "b")
		c.finds("款", pawl.Query{}, "b")
		c.finds(`end "q' XOR * (`, pawl.Query{})
		c.finds(`end "q' * (`, pawl.Query{}, "b")
		c.finds("order NOT", pawl.Query{})
		c.finds(" -- ", pawl.Query{}, "d", "c", "b", "a")
	}},
	{"search/filters", "a search finds only runs that the query selects", func(c *check) {
		for i := range 600 {
			tenant := map[string]string{"tenant": fmt.Sprint(i % 2), "third": fmt.Sprint(i % 3)}
			c.text(fmt.Sprintf("run-%03d", i), "the same", pawl.Head{Agent: "x", Labels: tenant, Created: day.Add(time.Duration(i) * time.Hour)})
		}
		c.finds("same", pawl.Query{Max: 2}, "run-599", "run-598")
		c.finds("same", pawl.Query{Max: 2, Labels: map[string]string{"tenant": "0", "third": "1"}}, "run-598", "run-592")
		c.finds("same", pawl.Query{Labels: map[string]string{"tenant": "2"}})
		c.finds("same", pawl.Query{Agent: "y"})
		c.finds("same", pawl.Query{Run: "run-01", Agent: "x", Max: 1}, "run-019")
		c.finds("same", pawl.Query{Since: day.Add(3 * time.Hour), Until: day.Add(5 * time.Hour)}, "run-004", "run-003")
		c.finds("other", pawl.Query{Run: "run-001"})
	}},
	{"search/newest text", "a text replaces the one before, and a batch without one changes nothing", func(c *check) {
		l := c.text("r", "question", pawl.Head{})
		c.headed(batch(l, 1, "b"), pawl.Head{Status: pawl.StatusRunning})
		c.finds("question", pawl.Query{}, "r")
		b := batch(l, 2, "c")
		b.Text = "question answer " + strings.Repeat("long ", 100_000)
		c.headed(b, pawl.Head{Status: pawl.StatusSuccess})
		c.finds("question answer", pawl.Query{}, "r")
		b = batch(l, 3, "d")
		b.Text = "answer"
		c.headed(b, pawl.Head{Status: pawl.StatusSuccess})
		c.finds("question", pawl.Query{})
	}},
	{"search/removed", "a removed run is not found, and a refused batch changes nothing", func(c *check) {
		r := c.shredder()
		a, b := c.text("a", "gone", pawl.Head{}), c.text("b", "gone", pawl.Head{})
		stale := batch(b, 7, "x")
		stale.Text = "stale"
		c.is(c.Append(c.Context(), stale), pawl.ErrConflict, "appending elsewhere")
		c.finds("stale", pawl.Query{})
		c.ok(r.Remove(c.Context(), "a", a.Epoch), "removing")
		c.finds("gone", pawl.Query{}, "b")
	}},
	{"search/reopened", "texts survive a restart", func(c *check) {
		c.text("r", "kept", pawl.Head{})
		c.reopen()
		c.finds("kept", pawl.Query{}, "r")
	}},
}
