package fakeprovider

import (
	"slices"
	"strings"

	"github.com/pawl-run/pawl"
)

func (a *answer) googleReason() string {
	return a.because("STOP", map[pawl.StopReason]string{pawl.StopLength: "MAX_TOKENS", pawl.StopRefusal: "SAFETY"})
}

func (a *answer) googleUsage() object {
	u := a.usage
	doc := object{
		"promptTokenCount": u.Input, "candidatesTokenCount": u.Output - u.Reasoning, "totalTokenCount": u.Input + u.Output,
		"promptTokensDetails": []any{object{"modality": "TEXT", "tokenCount": u.Input}},
	}
	if u.Reasoning > 0 {
		doc["thoughtsTokenCount"] = u.Reasoning
	}
	if u.CacheRead > 0 {
		doc["cachedContentTokenCount"] = u.CacheRead
	}
	return doc
}

// signs reports whether the model of the request signs what it sends.
func (in *inbound) signs(a *answer) bool {
	return !a.unsigned && (in.demandsSignatures() || a.count(thinking) > 0)
}

// demandsSignatures: models since Gemini 3 refuse calls without theirs.
func (in *inbound) demandsSignatures() bool { return in.traits().Signed }

// hide leaves out the thoughts of a model that does not think, or is not asked to show them.
func (in *inbound) hide(a *answer) {
	if !in.hides && in.thinks {
		return
	}
	a.items = slices.DeleteFunc(a.items, func(it item) bool { return it.kind == thinking })
}

// googlePart is an item as a part. Only the first of several calls is signed.
func (in *inbound) googlePart(a *answer, i int) object {
	it := &a.items[i]
	if it.kind != calling {
		p := object{"text": it.text}
		if it.kind == thinking {
			p["thought"] = true
		}
		return p
	}
	fn := object{"name": it.name, "args": rawOr(it.text)}
	if it.bare {
		delete(fn, "args")
	}
	if in.demandsSignatures() && !it.noID {
		fn["id"] = it.id
	}
	p := object{"functionCall": fn}
	first := true
	for _, before := range a.items[:i] {
		first = first && before.kind != calling
	}
	if first && in.signs(a) {
		p["thoughtSignature"] = in.memory.token(a.id("call", i))
	}
	return p
}

func (in *inbound) googleDoc(a *answer, parts []any, reason string) object {
	candidate := object{"content": object{"parts": parts, "role": "model"}, "index": 0}
	if found := a.grounding(); found != nil && reason != "" {
		candidate["groundingMetadata"] = found
	}
	if reason != "" {
		candidate["finishReason"] = reason
	}
	if a.token != "" && reason != "" {
		candidate["continuationToken"] = a.token
	}
	doc := object{"candidates": []any{candidate}, "modelVersion": in.Model, "responseId": a.id("", 0)}
	if !a.silent {
		doc["usageMetadata"] = a.googleUsage()
	}
	return doc
}

// grounding says what the reply relies on.
func (a *answer) grounding() object {
	chunks, supports := []any{}, []any{}
	for _, it := range a.items {
		for _, c := range it.cites {
			supports = append(supports, object{"segment": object{"text": c.Quote}, "groundingChunkIndices": []any{len(chunks)}})
			chunks = append(chunks, object{"web": object{"uri": c.URL, "title": c.Title}})
		}
	}
	if len(chunks) == 0 {
		return nil
	}
	return object{"groundingChunks": chunks, "groundingSupports": supports}
}

func wholeGoogle(in *inbound, a *answer) any {
	parts := []any{}
	in.hide(a)
	for i := range a.items {
		parts = append(parts, in.googlePart(a, i))
	}
	if n := len(a.items); n > 0 && a.items[n-1].kind == saying && in.signs(a) && a.token == "" {
		parts[len(parts)-1].(object)["thoughtSignature"] = in.memory.token(a.id("text", 0))
	}
	return in.googleDoc(a, parts, a.googleReason())
}

func streamGoogle(in *inbound, a *answer) []frame {
	var list []frame
	in.hide(a)
	add := func(p part, i int, part object) {
		list = append(list, frame{part: p, item: i, data: in.googleDoc(a, []any{part}, "")})
	}
	for i := range a.items {
		whole := in.googlePart(a, i)
		if a.items[i].kind == calling {
			add(piece, i, whole)
			continue
		}
		for _, text := range a.pieces(a.items[i].text) {
			part := object{"text": text}
			if whole["thought"] != nil {
				part["thought"] = true
			}
			add(piece, i, part)
		}
	}
	last := object{"text": ""}
	if n := len(a.items); n > 0 && a.items[n-1].kind == saying && in.signs(a) && a.token == "" {
		last["thoughtSignature"] = in.memory.token(a.id("text", 0))
	}
	return append(list, frame{part: closing, item: -1, data: in.googleDoc(a, []any{last}, a.googleReason())})
}

func refuseGoogle(r *refusal) any {
	e := object{"code": r.status, "message": r.message, "status": r.kind}
	var details []any
	if r.code != "" {
		details = append(details, object{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": r.code, "domain": "googleapis.com"})
	}
	if r.after > 0 {
		details = append(details, object{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": googleSeconds(r)})
	}
	if details != nil {
		e["details"] = details
	}
	return object{"error": e}
}

func googleSeconds(r *refusal) string {
	return strings.TrimRight(strings.TrimRight(formatSeconds(r.after), "0"), ".") + "s"
}

func failGoogle(r *refusal) []frame {
	return []frame{{part: closing, item: -1, data: refuseGoogle(r)}}
}

var googleWords = words{
	pawl.ClassRateLimit:  {429, "RESOURCE_EXHAUSTED", "", "You exceeded your current quota, please check your plan and billing details. Quota exceeded for metric: generate_content_requests_per_minute, limit: 10."},
	pawl.ClassOverloaded: {503, "UNAVAILABLE", "", "The model is overloaded. Please try again later."},
	pawl.ClassQuota:      {429, "RESOURCE_EXHAUSTED", "", "You exceeded your current quota, please check your plan and billing details. Quota exceeded for metric: generate_content_requests_per_day, limit: 250."},
	pawl.ClassAuth:       {400, "INVALID_ARGUMENT", "API_KEY_INVALID", "API key not valid. Please pass a valid API key."},
	pawl.ClassNotFound:   {404, "NOT_FOUND", "", ""},
	pawl.ClassTooLong:    {400, "INVALID_ARGUMENT", "", "The input token count (1212304) exceeds the maximum number of tokens allowed (1048576)."},
	pawl.ClassRefused:    {400, "INVALID_ARGUMENT", "", "The request was blocked by safety filters."},
	pawl.ClassInvalid:    {400, "INVALID_ARGUMENT", "", "Request contains an invalid argument."},
	pawl.ClassUnknown:    {500, "INTERNAL", "", "An internal error has occurred. Please retry or report."},
}
