package modeltest_test

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/testkit/modeltest"
	"github.com/pawl-run/pawl/internal/wire"
	"github.com/pawl-run/pawl/pawltest"
)

// A direct model asks the brain without a wire between them: it is what an
// adapter and a provider are together when neither makes a mistake.
type direct struct {
	brain pawl.Model

	mu   sync.Mutex
	sent [][]byte
	open int
}

const directName = "test/direct"

func (d *direct) Stream(ctx context.Context, r pawl.Request) iter.Seq2[pawl.Chunk, error] {
	return func(yield func(pawl.Chunk, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(pawl.Chunk{}, err)
			return
		}
		r = own(r)
		d.begin(r)
		defer d.end()
		for chunk, err := range d.brain.Stream(ctx, r) {
			if ctx.Err() != nil {
				chunk, err = pawl.Chunk{}, ctx.Err()
			}
			if chunk.Reply != nil {
				chunk.Reply, err = received(*chunk.Reply)
			}
			chunk.Text = strings.ToValidUTF8(chunk.Text, "\uFFFD")
			if !yield(chunk, err) || err != nil {
				return
			}
		}
	}
}

func (d *direct) begin(r pawl.Request) {
	var tools [][]any
	for _, t := range r.Tools {
		tools = append(tools, []any{t.Name, t.Description, t.Input})
	}
	body, err := json.Marshal([]any{r.System, tools, r.Messages, r.Output, r.Sampling, r.MaxTokens})
	if err != nil {
		panic(err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sent, d.open = append(d.sent, body), d.open+1
}

func (d *direct) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open--
}

// own is what goes out of a request: without the thoughts of others, and with
// the defaults.
func own(r pawl.Request) pawl.Request {
	if r.MaxTokens == 0 {
		r.MaxTokens = r.Sampling.MaxTokens
	}
	if r.MaxTokens == 0 {
		r.MaxTokens = 16384
	}
	r.Sampling.MaxTokens = 0
	r.Messages = slices.Clone(r.Messages)
	for i, msg := range r.Messages {
		r.Messages[i].Parts = slices.DeleteFunc(slices.Clone(msg.Parts), func(p pawl.Part) bool {
			t, ok := p.(pawl.Thinking)
			return ok && t.Model != directName
		})
	}
	return r
}

// received is a reply as it comes in.
func received(r pawl.Reply) (*pawl.Reply, error) {
	says := false
	r.Parts = slices.Clone(r.Parts)
	for i, p := range r.Parts {
		switch p := p.(type) {
		case pawl.Text:
			p.Text = strings.ToValidUTF8(p.Text, "\uFFFD")
			r.Parts[i], says = p, says || p.Text != ""
		case pawl.Thinking:
			opaque, _ := json.Marshal(map[string]string{"thought": p.Text, "seal": "sealed " + p.Text})
			r.Parts[i] = pawl.Thinking{Text: p.Text, Opaque: opaque, Model: directName}
		case pawl.Call:
			if _, err := wire.Canonical(nil, p.Args); err != nil && !json.Valid(p.Args) {
				p.Args, _ = json.Marshal(string(p.Args))
				r.Parts[i] = p
			}
			says = true
		}
	}
	if !says && (r.Stop == 0 || r.Stop == pawl.StopEnd) {
		return nil, &pawl.ModelError{Class: pawl.ClassEmpty, Message: "nothing came"}
	}
	return &r, nil
}

// A direct model passes without exception: the suite asks for nothing that a
// wire alone could give.
func TestWithoutAWire(t *testing.T) {
	suite(t, func(m pawl.Model) pawl.Model { return m })
}

// suite runs the rules on a direct model with something around it.
func suite(t *testing.T, around func(m pawl.Model) pawl.Model) {
	var d *direct
	modeltest.Run(t, func(_ testing.TB, brain pawl.Model) pawl.Model {
		d = &direct{brain: brain}
		return around(d)
	}, &modeltest.Options{
		Sent: func() [][]byte {
			d.mu.Lock()
			defer d.mu.Unlock()
			return slices.Clone(d.sent)
		},
		Open: func() int {
			d.mu.Lock()
			defer d.mu.Unlock()
			return d.open
		},
	})
}

// What watches a model is one itself, and the suite's own requests are such as
// providers accept.
func TestChecked(t *testing.T) {
	suite(t, func(m pawl.Model) pawl.Model { return pawltest.Check(t, m) })
}
