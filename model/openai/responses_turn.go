package openai

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/internal/provider"
)

// A response builds one reply from the events of its stream. Items arrive one
// by one: added, extended by deltas, done. Only the events response.completed,
// incomplete, failed and cancelled end the stream.
//
// Other events change nothing: those that repeat what the item has when it is done
// (content_part, annotation, code_interpreter_call_code and their like), those of the response's
// progress (queued, in_progress, compaction.compacting), and those of tools that are never
// offered (mcp, shell, computer, image_generation, custom_tool). The same holds for their items.
type response struct {
	provider.Turn
	items  []*output
	status string // completed or incomplete; empty: not ended
	reason string // why it is incomplete
}

// An output is an item being received.
type output struct {
	outputItem
	index *int
	text  strings.Builder // of a message, of thinking or of arguments, so far
	no    strings.Builder // a refusal
	raw   json.RawMessage // the whole item, when done
}

// An outputItem has the relevant fields of an item.
type outputItem struct {
	Type      string  `json:"type"`
	ID        string  `json:"id"`
	Phase     string  `json:"phase"`
	CallID    string  `json:"call_id"`
	Name      string  `json:"name"`
	Arguments string  `json:"arguments"`
	Content   []piece `json:"content"`
	Summary   []piece `json:"summary"`

	Status    string          `json:"status"` // of the call of a hosted tool
	Action    json.RawMessage `json:"action"`
	Container string          `json:"container_id"`
	Code      string          `json:"code"`
	Outputs   json.RawMessage `json:"outputs"`
}

type piece struct {
	Type    string            `json:"type"`
	Text    string            `json:"text"`
	Refusal string            `json:"refusal"`
	Sources []json.RawMessage `json:"annotations"`
}

type responsesEvent struct {
	Type      string          `json:"type"`
	Index     *int            `json:"output_index"`
	Summary   int             `json:"summary_index"`
	ItemID    string          `json:"item_id"`
	Delta     string          `json:"delta"`
	Arguments string          `json:"arguments"`
	Item      json.RawMessage `json:"item"`
	Response  *struct {
		Status     string            `json:"status"`
		Output     []json.RawMessage `json:"output"`
		Error      json.RawMessage   `json:"error"`
		Incomplete struct {
			Reason string `json:"reason"`
		} `json:"incomplete_details"`
		Usage *responsesUsage `json:"usage"`
		Cache struct {
			TTL string `json:"ttl"`
		} `json:"prompt_cache_options"`
	} `json:"response"`
}

type responsesUsage struct {
	Input    figure `json:"input_tokens"`
	Output   figure `json:"output_tokens"`
	Total    figure `json:"total_tokens"`
	InputHas struct {
		Cached  figure `json:"cached_tokens"`
		Written figure `json:"cache_write_tokens"`
		Details struct {
			Long figure `json:"ttl_12h_tokens"`
		} `json:"cache_write_tokens_details"`
	} `json:"input_tokens_details"`
	OutputHas struct {
		Reasoning figure `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
}

func (u *responsesUsage) counts() counts {
	return counts{
		input: u.Input, output: u.Output, total: u.Total, reasoning: u.OutputHas.Reasoning,
		read: u.InputHas.Cached.n, written: u.InputHas.Written.n, long: u.InputHas.Details.Long.n,
	}
}

func (r *response) Ends(error) bool { return r.Ended }

func (r *response) Event(data []byte) ([]pawl.Chunk, error) {
	if string(data) == "[DONE]" { // some servers end every stream with it
		return nil, r.Failed(pawl.ClassTruncated, "the stream ended before the reply did")
	}
	var ev responsesEvent
	if err := r.Decode(data, &ev, func(data []byte) bool {
		return ev.Type == "error" || !strings.Contains(ev.Type, ".") && isError(data)
	}); err != nil {
		return nil, err
	}
	if ev.Response != nil && ev.Response.Usage != nil {
		c := ev.Response.Usage.counts()
		if ev.Response.Cache.TTL == "12h" && !ev.Response.Usage.InputHas.Details.Long.told {
			c.long = c.written
		}
		c.book(&r.Turn, r.bytes())
	}
	switch ev.Type {
	case "response.output_item.added":
		return r.begin(ev), nil
	case "response.output_item.done":
		return r.end(ev)
	case "response.output_text.delta":
		r.open(ev, "message").text.WriteString(ev.Delta)
		return []pawl.Chunk{{Text: ev.Delta}}, nil
	case "response.refusal.delta":
		r.open(ev, "message").no.WriteString(ev.Delta)
		return []pawl.Chunk{{Text: ev.Delta}}, nil
	case "response.reasoning_summary_part.added":
		if ev.Summary > 0 {
			r.open(ev, "reasoning").text.WriteString("\n\n")
			return []pawl.Chunk{{Thinking: "\n\n"}}, nil
		}
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		r.open(ev, "reasoning").text.WriteString(ev.Delta)
		return []pawl.Chunk{{Thinking: ev.Delta}}, nil
	case "response.function_call_arguments.delta":
		r.open(ev, "function_call").text.WriteString(ev.Delta)
	case "response.function_call_arguments.done":
		o := r.open(ev, "function_call")
		o.text.Reset()
		o.text.WriteString(ev.Arguments)
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled", "response.done":
		return nil, r.close(ev)
	}
	return nil, nil
}

func (r *response) begin(ev responsesEvent) []pawl.Chunk {
	o := &output{index: ev.Index}
	if json.Unmarshal(ev.Item, &o.outputItem) != nil {
		return nil // the done event repeats it
	}
	o.text.WriteString(o.Arguments)
	r.items = append(r.items, o)
	if name := hostedTools[o.Type]; name != "" {
		return []pawl.Chunk{{Call: name}}
	}
	if o.Type == "function_call" {
		return []pawl.Chunk{{Call: o.Name}}
	}
	return nil
}

func (r *response) end(ev responsesEvent) ([]pawl.Chunk, error) {
	var it outputItem
	if err := json.Unmarshal(ev.Item, &it); err != nil {
		return nil, r.Failed(pawl.ClassUnknown, "an item is unknown here: "+provider.Clip(err.Error()))
	}
	ev.ItemID = it.ID
	o := r.open(ev, it.Type)
	o.outputItem, o.raw = it, append(json.RawMessage(nil), ev.Item...)
	return nil, nil
}

// open returns the item of an event. Among the unfinished items of its kind, it
// is the one with the event's index and id, or with one of the two, or, if the
// event has neither, the latest. Some servers send the same index in all
// events, or a new id in each.
func (r *response) open(ev responsesEvent, kind string) *output {
	var found *output
	best := -1
	for _, o := range r.items {
		score := 0
		if ev.Index != nil && o.index != nil && *ev.Index == *o.index {
			score += 2
		}
		if ev.ItemID != "" && ev.ItemID == o.ID {
			score++
		}
		known := ev.Index != nil || ev.ItemID != ""
		if o.raw == nil && o.Type == kind && score >= best && (score > 0 || !known) {
			found, best = o, score
		}
	}
	if found == nil {
		found = &output{outputItem: outputItem{Type: kind, ID: ev.ItemID}, index: ev.Index}
		r.items = append(r.items, found)
	}
	return found
}

// close handles the last event. Some servers send response.completed with
// another status; the status counts.
func (r *response) close(ev responsesEvent) error {
	end := strings.TrimPrefix(ev.Type, "response.")
	if ev.Response == nil {
		return r.Failed(pawl.ClassUnknown, ev.Type+" has no response")
	}
	switch s := ev.Response.Status; s {
	case "completed", "incomplete", "failed", "cancelled":
		if s != "completed" || end == "done" {
			end = s
		}
	}
	switch end {
	case "completed", "incomplete":
	case "failed":
		if len(ev.Response.Error) > 0 && string(ev.Response.Error) != "null" {
			return provider.InBandError(provider.Marshal(map[string]any{"error": ev.Response.Error}))
		}
		return r.Failed(pawl.ClassUnknown, "the response failed without a reason")
	case "cancelled":
		return r.Failed(pawl.ClassOverloaded, "the provider cancelled the response")
	default:
		return r.Failed(pawl.ClassUnknown, "the response ended without a status")
	}
	r.fill(ev.Response.Output)
	for _, o := range r.items {
		if o.raw == nil && end == "completed" {
			return r.Broken("it ended inside a " + o.Type)
		}
	}
	r.status, r.reason, r.Ended = end, ev.Response.Incomplete.Reason, true
	return nil
}

// fill takes the items of the last event that were not received completely.
func (r *response) fill(whole []json.RawMessage) {
	missing := len(r.items) == 0
	for _, o := range r.items {
		missing = missing || o.raw == nil
	}
	if !missing || len(whole) < len(r.items) {
		return
	}
	items := make([]*output, len(whole))
	for i, raw := range whole {
		items[i] = &output{raw: raw}
		if json.Unmarshal(raw, &items[i].outputItem) != nil {
			return
		}
	}
	r.items = items
}

func (r *response) Reply() (*pawl.Reply, error) {
	var parts []pawl.Part
	var refusal strings.Builder
	torn := false
	for _, o := range r.items {
		text := o.said()
		switch o.Type {
		case "message":
			refusal.WriteString(o.refused())
			if text == "" {
				continue
			}
			if o.Phase != "" {
				parts = append(parts, pawl.Thinking{Opaque: provider.Marshal(map[string]string{"phase": o.Phase}), Model: r.Model})
			}
			parts = append(parts, o.texts(text, r.Model)...)
		case "reasoning":
			parts = append(parts, pawl.Thinking{Text: text, Opaque: o.raw, Model: r.Model, Account: r.Account})
		case "function_call":
			if o.Name == "" {
				return nil, r.Broken("a call without a name")
			}
			torn = !json.Valid([]byte(text))
			parts = append(parts, *o.call())
		case "web_search_call", "code_interpreter_call":
			if o.raw != nil {
				parts = append(parts, pawl.Thinking{Opaque: o.raw, Model: r.Model, Account: r.Account})
				r.Hosted = append(r.Hosted, o.hosted())
			}
		}
	}
	r.fees()
	switch {
	case refusal.Len() > 0:
		return r.Stop(append(parts, pawl.Text{Text: refusal.String()}), pawl.StopRefusal)
	case r.status == "completed", r.reason == "max_messages", r.reason == "steered":
		return r.Finish(parts, torn)
	case r.reason == "max_output_tokens":
		return r.Cut(parts)
	case r.reason == "content_filter":
		return r.Filtered(parts, r.reason)
	}
	return nil, r.Failed(pawl.ClassUnknown, fmt.Sprintf("the response is incomplete for a reason unknown here, %q", provider.Clip(r.reason)))
}

// bytes returns how much was received, where no usage tells what it cost.
func (r *response) bytes() (n int) {
	for _, o := range r.items {
		n += len(o.said())
	}
	return n
}

// texts returns a message as parts: one text, or, where it has sources, each piece with its own.
func (o *output) texts(text, model string) (parts []pawl.Part) {
	if !slices.ContainsFunc(o.Content, func(p piece) bool { return len(p.Sources) > 0 }) {
		return []pawl.Part{pawl.Text{Text: text}}
	}
	for _, p := range o.Content {
		if p.Text == "" {
			continue
		}
		parts = append(parts, pawl.Text{Text: p.Text})
		for _, raw := range p.Sources {
			parts = append(parts, citation(raw, model))
		}
	}
	return parts
}

// citation reads an annotation: of a page, of a file or of a file that code wrote. What the
// model quotes of it OpenAI does not say.
func citation(raw json.RawMessage, model string) pawl.Citation {
	var c struct {
		Title string `json:"title"`
		URL   string `json:"url"`
		Name  string `json:"filename"`
		ID    string `json:"file_id"`
	}
	_ = json.Unmarshal(raw, &c) // what does not fit stays in the opaque part
	return pawl.Citation{Title: cmp.Or(c.Title, c.Name, c.ID), URL: c.URL, Opaque: raw, Model: model}
}

// hosted returns the item as a hosted call.
func (o *output) hosted() pawl.HostedCall {
	h := pawl.HostedCall{Call: pawl.Call{Tool: hostedTools[o.Type]}}
	if o.Type == "web_search_call" {
		var action map[string]json.RawMessage
		_ = json.Unmarshal(o.Action, &action)
		h.Result = provider.Readable(action["sources"])
		delete(action, "sources")
		h.Call.Args = provider.Marshal(action)
	} else {
		h.Call.Args, h.Result = provider.Marshal(map[string]string{"code": o.Code}), provider.Readable(o.Outputs)
	}
	if o.Status == "failed" || o.Status == "incomplete" {
		h.Result, h.Error = nil, o.Status
	}
	return h
}

// fees counts what of the hosted calls has a price of its own: searches, but not pages that
// are opened, and containers.
func (r *response) fees() {
	containers := map[string]bool{}
	for _, o := range r.items {
		var action struct {
			Type string `json:"type"`
		}
		if _ = json.Unmarshal(o.Action, &action); o.Type == "web_search_call" && action.Type == "search" && o.Status != "failed" {
			r.Usage.Searches++
		}
		if o.Type == "code_interpreter_call" && !containers[o.Container] {
			containers[o.Container] = true
			r.Usage.Sessions++
		}
	}
}

func (o *output) call() *pawl.Call {
	return &pawl.Call{Ref: o.CallID, Tool: o.Name, Args: provider.Args(o.said())}
}

// said returns an item's text, or the part received so far.
func (o *output) said() string {
	if o.raw == nil {
		return o.text.String()
	}
	if o.Type == "function_call" {
		return o.Arguments
	}
	pieces := o.Content
	sep := ""
	if o.Type == "reasoning" && len(o.Summary) > 0 {
		pieces, sep = o.Summary, "\n\n"
	}
	var texts []string
	for _, p := range pieces {
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, sep)
}

func (o *output) refused() string {
	if o.raw == nil {
		return o.no.String()
	}
	var b strings.Builder
	for _, p := range o.Content {
		b.WriteString(p.Refusal)
	}
	return b.String()
}
