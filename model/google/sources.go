package google

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/internal/provider"
)

type candidate struct {
	Index   int `json:"index"`
	Content struct {
		Parts []json.RawMessage `json:"parts"`
	} `json:"content"`
	Grounding     grounding `json:"groundingMetadata"`
	Citations     citations `json:"citationMetadata"`
	FinishReason  string    `json:"finishReason"`
	FinishMessage string    `json:"finishMessage"`
	Token         string    `json:"continuationToken"`
}

// grounding says what was searched for and found, and which sentences of the reply rely on it.
type grounding struct {
	Queries  []string          `json:"webSearchQueries"`
	Chunks   []json.RawMessage `json:"groundingChunks"`
	Supports []struct {
		Chunks  []int `json:"groundingChunkIndices"`
		Segment struct {
			Text string `json:"text"`
		} `json:"segment"`
	} `json:"groundingSupports"`
}

// citations name what the reply quotes at length. The Gemini API and Vertex AI call them differently.
type citations struct {
	Sources []citation `json:"citationSources"`
	Quoted  []citation `json:"citations"`
}

type citation struct {
	Start int    `json:"startIndex"` // in bytes of the text
	End   int    `json:"endIndex"`
	URI   string `json:"uri"`
	Title string `json:"title"`
}

// sources are those of one response, whose pieces begin with number from.
type sources struct {
	from   int
	found  grounding
	quoted []citation
}

// add takes the sources of an event. Those of searches are all in each event that has any.
func (s *sources) add(c *candidate) {
	if g := c.Grounding; len(g.Queries)+len(g.Chunks)+len(g.Supports) > 0 {
		s.found = g
	}
	for _, each := range slices.Concat(c.Citations.Sources, c.Citations.Quoted) {
		if !slices.Contains(s.quoted, each) {
			s.quoted = append(s.quoted, each)
		}
	}
}

// citations returns what stands behind each piece of the reply. The API says which text a source
// supports, and not always of which part.
func (t *turn) citations() map[int][]pawl.Part {
	cited := map[int][]pawl.Part{}
	for _, s := range t.sources {
		for _, support := range s.found.Supports {
			quote := support.Segment.Text
			for _, n := range support.Chunks {
				if n < 0 || n >= len(s.found.Chunks) {
					continue
				}
				if c, ok := sourceOf(s.found.Chunks[n]); ok {
					c.Quote = quote
					at := t.saying(s.from, quote)
					cited[at] = append(cited[at], c)
				}
			}
		}
		for _, c := range s.quoted {
			at := t.saying(s.from, "")
			cited[at] = append(cited[at], pawl.Citation{Title: c.Title, URL: c.URI, Quote: c.in(t.text(s.from))})
		}
	}
	return cited
}

// sourceOf returns the source that a chunk names: a page, a document, a place or a picture.
func sourceOf(chunk json.RawMessage) (c pawl.Citation, ok bool) {
	var kinds map[string]json.RawMessage
	if json.Unmarshal(chunk, &kinds) != nil {
		return c, false
	}
	for _, kind := range []string{"web", "retrievedContext", "maps", "image"} {
		var source struct{ Title, URI, SourceURI string }
		if json.Unmarshal(kinds[kind], &source) == nil {
			c = pawl.Citation{Title: source.Title, URL: cmp.Or(source.URI, source.SourceURI)}
			return c, c.Title != "" || c.URL != ""
		}
	}
	return c, false
}

// saying returns the number of the first text, of those from a number on, that has a quote, or
// else of the last text.
func (t *turn) saying(from int, quote string) int {
	last := len(t.pieces) - 1
	for i, p := range slices.Backward(t.pieces) {
		if p.kind == "text" {
			last = i
			break
		}
	}
	for i := max(0, min(from, last)); i < last && quote != ""; i++ {
		if t.pieces[i].kind == "text" && strings.Contains(t.pieces[i].text.String(), quote) {
			return i
		}
	}
	return last
}

// text returns the text of the pieces from a number on.
func (t *turn) text(from int) string {
	var b strings.Builder
	for _, p := range t.pieces[min(from, len(t.pieces)):] {
		if p.kind == "text" {
			b.WriteString(p.text.String())
		}
	}
	return b.String()
}

// in returns what the citation cites of a text; empty: it is not within it.
func (c citation) in(text string) string {
	if c.Start < 0 || c.Start >= c.End || c.End > len(text) || !utf8.ValidString(text[c.Start:c.End]) {
		return ""
	}
	return text[c.Start:c.End]
}

// hosted adds what the provider ran: code, and the web searches as one call, because the
// API does not say which of them found what.
func (t *turn) hosted() {
	var queries []string
	var found []json.RawMessage
	for _, s := range t.sources {
		queries, found = append(queries, s.found.Queries...), append(found, s.found.Chunks...)
	}
	var called []string // beside other tools, searches are parts of the reply
	for _, p := range t.pieces {
		called = append(called, p.queries()...)
		if code := p.rest["executableCode"]; code != nil {
			t.Hosted = append(t.Hosted, pawl.HostedCall{Call: pawl.Call{Tool: provider.CodeExecution, Args: code}})
		}
		var ran struct{ Outcome, Output string }
		if json.Unmarshal(p.rest["codeExecutionResult"], &ran) != nil || len(t.Hosted) == 0 {
			continue
		}
		h := &t.Hosted[len(t.Hosted)-1]
		if h.Result = provider.Marshal(ran.Output); ran.Outcome != "OUTCOME_OK" {
			h.Result, h.Error = nil, cmp.Or(ran.Output, ran.Outcome)
		}
	}
	if len(queries) == 0 {
		queries = called
	}
	if len(queries) == 0 {
		return
	}
	if t.Usage.Searches = len(queries); t.once {
		t.Usage.Searches = 1
	}
	t.Hosted = append(t.Hosted, pawl.HostedCall{
		Call:   pawl.Call{Tool: provider.WebSearch, Args: provider.Marshal(map[string]any{"queries": queries})},
		Result: provider.Readable(provider.Marshal(found)),
	})
}

// queries returns what a part that is a search by the provider looks for.
func (p *piece) queries() []string {
	var call struct {
		ToolType string `json:"toolType"`
		Args     struct {
			Queries []string `json:"queries"`
		} `json:"args"`
	}
	if json.Unmarshal(p.rest["toolCall"], &call) != nil || !strings.HasPrefix(call.ToolType, "GOOGLE_SEARCH_") {
		return nil
	}
	return call.Args.Queries
}
