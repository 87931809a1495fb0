package fakeprovider_test

import (
	"time"

	"github.com/pawl-run/pawl/pawltest/fakeprovider"
)

// A faultCase is what is right under a fault, in the words of [rig.verdict]: at
// the reply with the calls, and at the one without if that differs. What comes
// to the same is divided by a bar. on has wires where it differs; why is for the
// table.
type faultCase struct {
	does string
	end  string
	on   map[fakeprovider.Wire]string
	why  string
	wait time.Duration // the least between the fault and the next request
}

const (
	waits      = "waits at least as long as it is told, and a little longer by chance"
	resends    = "withdraws what was streamed, runs nothing of it, and sends the same request again"
	noSense    = "sends the same request again a few times; changing it would not help"
	runsNone   = "runs none of the calls, also those that can be read, and tells the model to be shorter"
	explains   = "answers the call with what is wrong with it; on the wire its arguments are an empty object"
	noMatter   = "reads it as what it is"
	ownIDs     = "gives calls ids of the run's own and maps the provider's"
	endsAtOnce = "sends nothing again; the run ends, and can be resumed when that is fixed"
	quiet      = "gives up after the time to the first event, or between two, and sends the request again; pings do not count"
)

var cases = map[string]faultCase{
	"rate-limit":         {does: "retry rate_limit", why: "backs off with full jitter, for all runs that use the endpoint"},
	"rate-limit-seconds": {does: "retry rate_limit", why: waits, wait: time.Second},
	"rate-limit-ms":      {does: "retry rate_limit", why: waits, wait: 20 * time.Millisecond},
	"rate-limit-date":    {does: "retry rate_limit", why: waits, wait: time.Second},
	"rate-limit-skewed":  {does: "retry rate_limit", why: "counts the date from the response's own Date", wait: time.Second},
	"rate-limit-past":    {does: "retry rate_limit", why: "takes a date in the past for no wish at all, and backs off"},
	"rate-limit-27h":     {does: "park rate_limit", why: "parks the run until then"},
	"quota-exhausted":    {does: "fail quota", why: endsAtOnce},
	"endless-error-body": {does: "retry overloaded | retry network", why: "reads 16 KiB of it for five seconds at most"},
	"overloaded-529":     {does: "retry overloaded", why: "backs off and sends it again"},
	"unavailable-503":    {does: "retry overloaded", why: "backs off and sends it again"},
	"internal-500":       {does: "retry overloaded", why: "backs off and sends it again"},
	"bad-gateway-502":    {does: "retry overloaded", why: "backs off and sends it again"},
	"unauthorized":       {does: "fail auth", why: "asks for another key if there is one, else " + endsAtOnce},
	"model-not-found":    {does: "fail not_found", why: endsAtOnce},
	"too-large":          {does: "fail too_long", why: "leaves older results out and sends it once more; with none to leave out, the run ends and can be resumed"},
	"context-length":     {does: "fail too_long", why: "leaves older results out and sends it once more; with none to leave out, the run ends and can be resumed"},
	"image-too-large":    {does: "fail invalid", why: "leaves pictures that are too large out before they are sent; one that is refused all the same ends the run"},
	"content-blocked":    {does: "fail refused", why: endsAtOnce + "; Google blocks prompts otherwise (29)", on: map[fakeprovider.Wire]string{fakeprovider.Google: "fail invalid"}},
	"html-page":          {does: "retry unknown", why: "shows the beginning of the page in the error"},
	"only-error":         {does: "retry overloaded", why: "takes an error for an error, whatever the status"},

	"wrong-content-type":   {does: "retry unknown", why: "takes nothing for a stream that does not say it is one"},
	"gzip-garbage":         {does: "retry network | retry truncated", why: resends},
	"byte-order-mark":      {does: "fine", why: noMatter},
	"crlf":                 {does: "fine", why: noMatter},
	"comment-pings":        {does: "fine", why: noMatter},
	"split-utf8":           {does: "fine", why: "decodes text only when its event is whole"},
	"reset-before-headers": {does: "retry network", why: "sends it again at once, the first time, on a new connection"},
	"stale-connection":     {does: "retry network", why: "sends it again at once, the first time, on a new connection"},
	"no-answer":            {does: "retry network", why: quiet},
	"headers-only":         {does: "retry network", why: quiet},
	"late":                 {does: "fine", why: "waits"},
	"late-after-headers":   {does: "fine", why: "waits"},
	"reset-mid-stream":     {does: "retry network | retry truncated", why: resends},
	"drop-mid-stream":      {does: "retry network | retry truncated", why: resends},
	"cut-mid-stream":       {does: "retry truncated", why: resends},
	"cut-mid-bytes":        {does: "retry truncated", why: resends},
	"drop-mid-bytes":       {does: "retry network | retry truncated", why: resends},
	"stalled-stream":       {does: "retry network", why: quiet},
	"pings-for-ever":       {does: "retry network", why: quiet},
	"end-inside-utf8":      {does: "retry truncated", why: resends},
	"half-frame":           {does: "retry truncated", why: resends},
	"no-events":            {does: "retry truncated", why: resends},

	"overloaded-mid-stream": {does: "retry overloaded", why: resends},
	"error-without-status": {does: "retry overloaded", why: "sorts errors by their type, not by a number; " + resends,
		on: map[fakeprovider.Wire]string{fakeprovider.Responses: "retry unknown"}},
	"response-failed":      {does: "retry overloaded", why: resends},
	"cut-mid-arguments":    {does: "retry truncated", why: resends},
	"malformed-last-chunk": {does: "retry truncated", why: resends},
	"malformed-event":      {does: "retry truncated", why: resends},
	"no-terminator": {does: "retry truncated", why: resends + "; Chat Completions count as whole from their finish reason on, for some servers leave [DONE] out",
		on: map[fakeprovider.Wire]string{fakeprovider.Chat: "fine"}},
	"no-finish": {does: "retry truncated", why: resends},
	"open-block": {does: "retry truncated", why: resends + "; a response that was completed has all of itself in its last event",
		on: map[fakeprovider.Wire]string{fakeprovider.Responses: "fine"}},
	"empty-finish-reason": {does: "fine", why: noMatter},
	"index-zero":          {does: "fine", why: "takes a new id, or a name after complete arguments, for a new call"},
	"no-index":            {does: "fine", why: "goes by the id, or else by the order"},
	"interleaved":         {does: "fine", why: "goes by the index"},

	"truncated-arguments":     {does: "refuse", why: explains},
	"length-mid-call":         {does: "reject", why: runsNone},
	"length-after-calls":      {does: "reject", why: runsNone},
	"length-mid-text":         {does: "reject", why: "tells the model to be shorter"},
	"capped-unsaid":           {does: "reject", why: "compares the usage with the limit; " + runsNone},
	"drop-called-length":      {does: "reject", why: "runs none of the calls and asks again, without a larger limit"},
	"response-incomplete":     {does: "reject", why: runsNone},
	"unknown-stop-reason":     {does: "retry unknown", why: "takes no unknown end for a good one"},
	"no-content":              {does: "retry empty", why: noSense},
	"no-content-billed":       {does: "retry empty", why: noSense + "; what was billed is booked"},
	"no-content-unbilled":     {does: "retry empty", why: noSense + "; nothing is booked"},
	"refusal":                 {does: "refused", why: endsAtOnce},
	"content-filter":          {does: "refused", why: endsAtOnce},
	"refusal-after-reasoning": {does: "refused", why: endsAtOnce},
	"malformed-function-call": {does: "retry empty", why: noSense},
	"unexpected-tool-call":    {does: "retry empty", why: noSense},
	"prompt-blocked":          {does: "refused", why: endsAtOnce},
	"window-exceeded":         {does: "fail too_long", why: "leaves older results out and asks once more; with none to leave out, the run ends and can be resumed"},
	"early-usage":             {does: "fine", why: "assigns usage, never adds it"},
	"no-usage":                {does: "fine", why: "books the estimate"},
	"pause-turn":              {does: "go on", why: "sends the turn back as it came, to be gone on with"},

	"no-signature":     {does: "fine", why: "sends back nothing that would be refused, and asks for no thinking where the missing part would be demanded"},
	"duplicate-ids":    {does: "fine", why: ownIDs},
	"id-is-tool-name":  {does: "fine", why: ownIDs},
	"odd-ids":          {does: "fine", why: ownIDs},
	"missing-id":       {does: "fine", why: ownIDs},
	"unknown-tool":     {does: "reject", why: "answers the call with the names there are"},
	"empty-text-block": {does: "fine", why: "keeps and sends no empty text"},
	"surrogate-text":   {does: "fine", why: "puts U+FFFD in its place before it becomes an entry"},

	"broken-text": {does: "fine", why: "puts U+FFFD in its place, and the log says so"},

	"broken-arguments":         {does: "reject", why: "answers the call with what is wrong with it; the other text of the reply is repaired"},
	"empty-arguments":          {does: "refuse", why: "takes nothing for {}; the schema decides"},
	"missing-arguments":        {does: "refuse", why: "takes nothing for {}; the schema decides"},
	"null-arguments":           {does: "refuse", why: "takes null for {}; the schema decides"},
	"array-arguments":          {does: "reject", why: explains},
	"string-arguments":         {does: "reject", why: explains},
	"double-encoded-arguments": {does: "reject", why: explains},
	"invalid-arguments":        {does: "reject", why: explains},
	"surrogate-arguments":      {does: "reject", why: "puts U+FFFD in its place before it becomes an entry; the schema decides"},
	"huge-arguments":           {does: "reject", why: "keeps the length, not the megabyte, and answers the call with it"},
	"deep-arguments":           {does: "reject", why: explains},
	"duplicate-keys":           {does: "reject", why: "answers the call with what is wrong with it; on the wire the last of the keys counts"},
	"huge-numbers":             {does: "reject", why: explains},
}
