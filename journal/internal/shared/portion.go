package shared

import (
	"fmt"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/journals"
)

// A Portion is a part of a log that is being read, and checks what it is given.
type Portion struct {
	Run   string
	From  uint64 // the first record that is wanted
	Next  uint64 // the record after the last one that was read
	Rows  []pawl.Row
	chain journals.Chain
}

// NewPortion begins at a record. digests are those of the batch before; nil: there is none.
func NewPortion(run string, from uint64, digests []byte) *Portion {
	p := &Portion{Run: run, From: from, Next: from, chain: journals.NewChain(run)}
	if len(digests) >= journals.DigestSize {
		p.chain = journals.Chain(digests[len(digests)-journals.DigestSize:])
	}
	return p
}

// Add adds a batch whose last record is last. Its records, sizes and digests are those that
// were stored. An error is a [*journals.DamageError]; the records before the damage are added.
func (p *Portion) Add(last uint64, sizes, digests, data []byte) error {
	records, err := Split(data, sizes)
	if err != nil {
		return p.damaged(p.Next, err.Error())
	}
	seq := last - uint64(len(records)) + 1
	if seq > p.Next || seq < p.Next && p.Next != p.From {
		return p.damaged(p.Next, fmt.Sprintf("entry %d is followed by %d", p.Next-1, seq))
	}
	chain, intact := p.chain.Check(records, digests)
	for _, record := range records[:intact] {
		if seq >= p.From {
			p.Rows = append(p.Rows, pawl.Row{Seq: seq, Data: record})
		}
		seq++
	}
	p.chain, p.Next = chain, max(seq, p.Next)
	if intact < len(records) {
		return p.damaged(seq, "it does not match its digest")
	}
	return nil
}

func (p *Portion) damaged(seq uint64, why string) error {
	return &journals.DamageError{Run: p.Run, Seq: seq, Why: why}
}
