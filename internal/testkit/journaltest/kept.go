package journaltest

import (
	"errors"
	"fmt"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
)

// keeper is the journal as one; the subtest is skipped for those that are none.
func (c *check) keeper() approval.Keeper {
	c.Helper()
	k, ok := c.Journal.(approval.Keeper)
	if !ok {
		c.Skip("this journal keeps no records")
	}
	return k
}

// kept is the records with a prefix, in the order in which they come.
func (c *check) kept(prefix string) (all []string) {
	c.Helper()
	for r, err := range c.keeper().Kept(c.Context(), prefix) {
		c.ok(err, "reading the records")
		all = append(all, r.Name+"="+string(r.Data))
	}
	return all
}

var keeping = []rule{
	{"kept/swap", "a record changes only if it is what the caller has seen", func(c *check) {
		k := c.keeper()
		keep := func(name, was, now string) error {
			bytes := func(s string) []byte {
				if s == "" {
					return nil
				}
				return []byte(s)
			}
			return k.Keep(c.Context(), name, bytes(was), bytes(now))
		}
		for _, step := range []struct {
			name, was, now string
			conflict       bool
		}{
			{"a/1", "", "x", false}, {"a/1", "", "y", true}, {"a/1", "y", "z", true}, {"a/1", "x", "y", false},
			{"a/2", "", "z", false}, {"a/2", "x", "", true}, {"a/3", "x", "y", true}, {"b", "", "w", false}, {"a", "", "v", false},
		} {
			if err := keep(step.name, step.was, step.now); errors.Is(err, pawl.ErrConflict) != step.conflict || !step.conflict && err != nil {
				c.failf("replacing %q of %s by %q: %v", step.was, step.name, step.now, err)
			}
		}
		c.same([]string{"a/1=y", "a/2=z"}, c.kept("a/"), "the records with a prefix")
		c.ok(keep("a/1", "y", ""), "removing a record")
		c.same([]string{"a=v", "a/2=z", "b=w"}, c.kept(""), "all records")
	}},
	{"kept/race", "of many that replace the same record exactly one wins", func(c *check) {
		k := c.keeper()
		c.ok(k.Keep(c.Context(), "r", nil, []byte("old")), "keeping a record")
		won := c.winner(race(crowd, func(i int) error {
			return k.Keep(c.Context(), "r", []byte("old"), []byte(fmt.Sprint(i)))
		}), func(err error) bool { return errors.Is(err, pawl.ErrConflict) })
		c.same([]string{fmt.Sprintf("r=%d", won)}, c.kept("r"), "the record")
	}},
}
