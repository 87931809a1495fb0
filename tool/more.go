package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/pawl-run/pawl"
)

// ReadMore is the tool read_more, with which a model reads the parts of an earlier result that it
// is not shown: what was truncated, or the whole result after a long conversation was compacted.
// The run's log and its journal have them.
func ReadMore() pawl.Tool { return readMore{} }

type readMore struct{}

// page is how many bytes one call reads, fewer than a result may have.
const page = 8 << 10

// Info declares the arguments: the call, and the byte to begin at.
func (readMore) Info() pawl.ToolInfo {
	return pawl.ToolInfo{
		Name: "read_more", Effect: pawl.Read, Trust: pawl.Untrusted, // it reads the results of any tool
		Description: "Read what was left out of the result of an earlier call, by the call's id, such as c_3, and the byte to begin at.",
		Input:       json.RawMessage(`{"type":"object","properties":{"call":{"type":"string","minLength":1},"offset":{"type":"integer","minimum":0,"description":"0 if left out"}},"required":["call"]}`),
	}
}

// Run fails: an engine calls Recall.
func (readMore) Run(context.Context, pawl.Invocation) (pawl.Output, error) {
	return pawl.Output{}, errors.New("read_more needs an engine that knows the run's earlier calls")
}

// Recall reads a page of an earlier result; with the first one come its files.
func (readMore) Recall(_ context.Context, inv pawl.Invocation, earlier func(call string) (string, []pawl.File, bool)) (pawl.Output, error) {
	var args struct {
		Call   string
		Offset int
	}
	if err := json.Unmarshal(inv.Args, &args); err != nil {
		return pawl.Output{}, err
	}
	text, files, ok := earlier(args.Call)
	switch {
	case !ok:
		return pawl.Output{}, fmt.Errorf("there is no call %q with a result", args.Call)
	case args.Offset > 0 && args.Offset >= len(text):
		return pawl.Output{}, fmt.Errorf("the result of %s has %d bytes; begin before them", args.Call, len(text))
	}
	from := max(args.Offset, 0)
	for from < len(text) && !utf8.RuneStart(text[from]) {
		from++
	}
	to := min(from+page, len(text))
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to--
	}
	note := fmt.Sprintf("[bytes %d to %d of %d of the result of %s", from, to, len(text), args.Call)
	if to < len(text) {
		note += fmt.Sprintf("; go on at %d", to)
	}
	if from > 0 {
		files = nil // the first page had them
	}
	raw, err := json.Marshal(note + "]\n" + text[from:to])
	return pawl.Output{JSON: raw, Files: files}, err
}
