package fakeprovider

import (
	"bytes"
	"maps"
	"slices"

	"github.com/pawl-run/pawl"
)

// Faults of the events of a stream. An unstreamed reply has none to strike.
var streams = []entry{
	{"overloaded-mid-stream", 7, "After K events, or half of them, the stream says that the provider is overloaded.", nil, errs(func(x strike) []frame {
		return x.in.dialect.fail(x.overloaded())
	})},
	{"error-without-status", 8, "After K events, or half of them, the stream reports an error that has a type, but no number.", nil, errs(failUnnumbered)},
	{"response-failed", 7, "After K events, or half of them, the response fails with a server error.", []Wire{Responses}, errs(func(x strike) []frame {
		doc := object{"id": x.in.id("resp_", 0), "object": "response", "status": "failed", "output": []any{}, "usage": nil, "error": object{"code": "server_error", "message": x.overloaded().message}}
		return []frame{{part: closing, item: -1, event: "response.failed", data: object{"type": "response.failed", "response": doc}}}
	})},
	{"cut-mid-arguments", 11, "The stream ends normally after K fragments, or half, of the last call's arguments.", spoken, deed{frames: func(x strike, a *answer, list []frame) ([]frame, bool) {
		i := argument(a, list, x.k)
		if i < 0 {
			return list, false
		}
		return list[:i+1], true
	}}},
	{"malformed-last-chunk", 12, "The stream ends normally with an event that is not JSON, after K fragments, or half, of the last call's arguments.", spoken, deed{frames: func(x strike, a *answer, list []frame) ([]frame, bool) {
		i := argument(a, list, x.k)
		if i < 0 {
			return list, false
		}
		list[i].raw = torn(list[i].bytes("\n"))
		return list[:i+1], true
	}}},
	{"malformed-event", 12, "Event K, or the middle one, is not JSON, and the stream continues.", nil, deed{frames: func(x strike, _ *answer, list []frame) ([]frame, bool) {
		if len(list) == 0 {
			return list, false
		}
		i := max(0, place(x.k, len(list)+1)-1)
		list[i].raw = torn(list[i].bytes("\n"))
		return list, true
	}}},
	{"no-terminator", 13, "The stream ends normally without its last event: message_stop, [DONE], response.completed, the chunk with the finish reason.", nil, drops(func(_ *answer, f frame) bool { return f.part == closing })},
	{"no-finish", 13, "The stream ends normally without a stop reason.", []Wire{Anthropic, Chat, Google}, deed{frames: func(x strike, a *answer, list []frame) ([]frame, bool) {
		if x.in.Wire == Google {
			doc, ok := list[len(list)-1].data.(object)
			if !ok {
				return list, false
			}
			delete(doc["candidates"].([]any)[0].(object), "finishReason")
			return list, true
		}
		return drops(func(_ *answer, f frame) bool { return f.part == finish }).frames(x, a, list)
	}}},
	{"open-block", 14, "A call is never closed, though the stream ends normally.", []Wire{Anthropic, Responses}, drops(func(a *answer, f frame) bool {
		return f.part == end && a.items[f.item].kind == calling
	})},
	{"empty-finish-reason", 23, "Every chunk but the last has the finish reason \"\" in place of null.", []Wire{Chat}, choices(func(_ int, choice object) bool {
		if choice["finish_reason"] == nil {
			choice["finish_reason"] = ""
		}
		return true
	})},
	{"index-zero", 39, "All calls have index 0.", []Wire{Chat}, deltas(func(_ int, call object) bool {
		moved := call["index"] != 0
		call["index"] = 0
		return moved
	})},
	{"no-index", 40, "No call has an index.", []Wire{Chat}, deltas(func(_ int, call object) bool {
		delete(call, "index")
		return true
	})},
	{"interleaved", 41, "The fragments of parallel calls alternate, and only their index separates them.", []Wire{Chat}, deed{frames: interleave}},
}

// The wires on which arguments are text, and come in fragments.
var spoken = []Wire{Anthropic, Chat, Responses}

func errs(fail func(x strike) []frame) deed {
	return deed{frames: func(x strike, _ *answer, list []frame) ([]frame, bool) {
		return append(list[:place(x.k, len(list))], fail(x)...), len(list) > 0
	}}
}

func failUnnumbered(x strike) []frame {
	r := &refusal{class: pawl.ClassUnknown}
	r.say(x.in.Wire)
	list := x.in.dialect.fail(r)
	doc, _ := list[0].data.(object)
	delete(doc, "code")
	if e, ok := doc["error"].(object); ok {
		delete(e, "code")
	}
	return list
}

// drops leaves out frames.
func drops(which func(a *answer, f frame) bool) deed {
	return deed{frames: func(_ strike, a *answer, list []frame) ([]frame, bool) {
		kept := slices.DeleteFunc(slices.Clone(list), func(f frame) bool { return which(a, f) })
		return kept, len(kept) < len(list)
	}}
}

// argument is the place in a stream of fragment k of the last call, the middle
// one for 0; -1: there is none.
func argument(a *answer, list []frame, k int) int {
	var at []int
	for i, f := range list {
		if f.part == piece && a.items[f.item].kind == calling {
			if len(at) > 0 && list[at[0]].item != f.item {
				at = nil
			}
			at = append(at, i)
		}
	}
	if len(at) == 0 {
		return -1
	}
	return at[max(0, place(k, len(at))-1)]
}

// torn is an event whose data ends in the middle.
func torn(b []byte) []byte {
	b = bytes.TrimRight(b, "\r\n")
	return append(b[:len(b)-len(b)/4-1:len(b)], "\n\n"...)
}

// choices changes the choices of Chat Completions.
func choices(change func(i int, choice object) bool) deed {
	return deed{frames: func(_ strike, _ *answer, list []frame) ([]frame, bool) {
		struck := false
		for i, f := range list {
			doc, _ := f.data.(object)
			all, _ := doc["choices"].([]any)
			for _, c := range all {
				struck = change(i, c.(object)) || struck
			}
		}
		return list, struck
	}}
}

// deltas changes the calls of Chat Completions.
func deltas(change func(i int, call object) bool) deed {
	return choices(func(i int, choice object) bool {
		struck := false
		calls, _ := choice["delta"].(object)["tool_calls"].([]any)
		for _, c := range calls {
			struck = change(i, c.(object)) || struck
		}
		return struck
	})
}

// interleave deals the fragments of all calls out in turns, behind the last
// announcement.
func interleave(_ strike, a *answer, list []frame) ([]frame, bool) {
	var before, after []frame
	hands := map[int][]frame{}
	for _, f := range list {
		switch {
		case f.item >= 0 && a.items[f.item].kind == calling && f.part == piece:
			hands[f.item] = append(hands[f.item], f)
		case f.part == finish, f.part == aside, f.part == closing:
			after = append(after, f)
		default:
			before = append(before, f)
		}
	}
	if len(hands) < 2 {
		return list, false
	}
	order := slices.Sorted(maps.Keys(hands))
	for round := 0; ; round++ {
		dealt := false
		for _, item := range order {
			if round < len(hands[item]) {
				before = append(before, hands[item][round])
				dealt = true
			}
		}
		if !dealt {
			return append(before, after...), true
		}
	}
}
