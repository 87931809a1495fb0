package fakeprovider_test

import (
	"time"

	"github.com/pawl-run/pawl/internal/testkit/fakeprovider"
)

// A faultCase is what is right under a fault, in the words of [rig.verdict]: at
// the reply with the calls, and at the one without if that differs. What comes
// to the same is divided by a bar. on has wires where it differs; why is what a
// failure of the test says was wanted.
type faultCase struct {
	does string
	end  string
	on   map[fakeprovider.Wire]string
	why  string
	wait time.Duration // the least between the fault and the next request
	cost booking       // of the attempt that failed, where that is held
}

// A booking is what a failed attempt is booked at: nothing where the provider refused it, its
// usage where the provider says all of that, zero included, and else the most that it may have cost.
type booking int

const (
	free booking = 1 + iota
	used
	most
)

const (
	waits      = "waits at least as long as the header says, and a random time longer"
	resends    = "discards the reply with its calls, and sends the request again"
	noSense    = "sends the request again a few times"
	runsNone   = "runs none of the calls, and asks again with more room and less effort"
	explains   = "answers the call with an error that says what is wrong"
	noMatter   = "reads the reply as usual"
	ownIDs     = "gives each call an id of the run, and maps the provider's ids to it"
	endsAtOnce = "ends the run, which can be resumed"
	quiet      = "sends the request again when the time to the first or next event is over; pings do not count"
)

var cases = map[string]faultCase{
	"rate-limit":         {cost: free, does: "retry rate_limit", why: "backs off with full jitter, for all runs that use the endpoint"},
	"rate-limit-seconds": {does: "retry rate_limit", why: waits, wait: time.Second},
	"rate-limit-ms":      {cost: free, does: "retry rate_limit", why: waits, wait: 20 * time.Millisecond},
	"rate-limit-date":    {does: "retry rate_limit", why: waits, wait: time.Second},
	"rate-limit-skewed":  {does: "retry rate_limit", why: "counts the date from the response's own Date", wait: time.Second},
	"rate-limit-past":    {does: "retry rate_limit", why: "ignores a date in the past, and backs off"},
	"rate-limit-27h":     {does: "park rate_limit", why: "parks the run until then"},
	"quota-exhausted":    {cost: free, does: "fail quota", why: endsAtOnce},
	"endless-error-body": {does: "retry overloaded | retry network", why: "reads 16 KiB of the body, for five seconds at most"},
	"overloaded-529":     {cost: free, does: "retry overloaded", why: "backs off and sends the request again"},
	"unavailable-503":    {cost: free, does: "retry overloaded", why: "backs off and sends the request again"},
	"internal-500":       {cost: free, does: "retry overloaded", why: "backs off and sends the request again"},
	"bad-gateway-502":    {cost: free, does: "retry overloaded", why: "backs off and sends the request again"},
	"unauthorized":       {cost: free, does: "fail auth", why: "tries another key if there is one; otherwise " + endsAtOnce},
	"model-not-found":    {cost: free, does: "fail not_found", why: endsAtOnce},
	"too-large":          {cost: free, does: "fail too_long", why: "leaves older results out and sends the request once more; with none to leave out, the run ends and can be resumed"},
	"context-length":     {cost: free, does: "fail too_long", why: "leaves older results out and sends the request once more; with none to leave out, the run ends and can be resumed"},
	"image-too-large":    {cost: free, does: "fail invalid", why: "leaves out pictures that are too large; a picture that is refused all the same ends the run"},
	"content-blocked":    {does: "fail refused", why: endsAtOnce + "; for Google see prompt-blocked", on: map[fakeprovider.Wire]string{fakeprovider.Google: "fail invalid"}},
	"html-page":          {cost: free, does: "retry unknown", why: "shows the beginning of the page in the error"},
	"only-error":         {cost: free, does: "retry overloaded", why: "treats an error as an error, whatever the status"},

	"wrong-content-type":   {does: "retry unknown", why: "accepts only a stream that is declared as one"},
	"gzip-garbage":         {does: "retry network | retry truncated", why: resends},
	"byte-order-mark":      {does: "fine", why: noMatter},
	"crlf":                 {does: "fine", why: noMatter},
	"comment-pings":        {does: "fine", why: noMatter},
	"split-utf8":           {does: "fine", why: "decodes text only when its event is complete"},
	"reset-before-headers": {cost: free, does: "retry network", why: "sends the request again on a new connection, the first time at once"},
	"stale-connection":     {does: "retry network", why: "sends the request again on a new connection, the first time at once"},
	"no-answer":            {cost: most, does: "retry network", why: quiet},
	"headers-only":         {cost: most, does: "retry network", why: quiet},
	"late":                 {does: "fine", why: "waits"},
	"late-after-headers":   {does: "fine", why: "waits"},
	"reset-mid-stream":     {cost: most, does: "retry network | retry truncated", why: resends},
	"drop-mid-stream":      {cost: most, does: "retry network | retry truncated", why: resends},
	"cut-mid-stream":       {does: "retry truncated", why: resends},
	"cut-mid-bytes":        {does: "retry truncated", why: resends},
	"drop-mid-bytes":       {does: "retry network | retry truncated", why: resends},
	"stalled-stream":       {cost: most, does: "retry network", why: quiet},
	"pings-for-ever":       {does: "retry network", why: quiet},
	"end-inside-utf8":      {does: "retry truncated", why: resends},
	"half-frame":           {cost: most, does: "retry truncated", why: resends},
	"no-events":            {cost: most, does: "retry truncated", why: resends},

	"overloaded-mid-stream": {cost: most, does: "retry overloaded", why: resends},
	"error-without-status": {cost: most, does: "retry overloaded", why: "classifies errors by their type, not by a number; " + resends,
		on: map[fakeprovider.Wire]string{fakeprovider.Responses: "retry unknown"}},
	"response-failed":      {cost: most, does: "retry overloaded", why: resends},
	"cut-mid-arguments":    {cost: most, does: "retry truncated", why: resends},
	"malformed-last-chunk": {cost: most, does: "retry truncated", why: resends},
	"malformed-event":      {does: "retry truncated", why: resends},
	"no-terminator": {does: "retry truncated", why: resends + "; a Chat Completion is complete with its finish reason, since some servers omit [DONE]",
		on: map[fakeprovider.Wire]string{fakeprovider.Chat: "fine"}},
	"no-finish": {does: "retry truncated", why: resends},
	"open-block": {does: "retry truncated", why: resends + "; the last event of a completed response contains the whole response",
		on: map[fakeprovider.Wire]string{fakeprovider.Responses: "fine"}},
	"empty-finish-reason": {does: "fine", why: noMatter},
	"index-zero":          {does: "fine", why: "starts a new call at a new id, or at a name after complete arguments"},
	"no-index":            {does: "fine", why: "separates calls by id, or otherwise by order"},
	"interleaved":         {does: "fine", why: "separates calls by index"},

	"truncated-arguments":     {does: "refuse", why: explains},
	"length-mid-call":         {does: "retry cut", why: runsNone},
	"length-after-calls":      {does: "retry cut", why: runsNone},
	"length-mid-text":         {does: "retry cut", why: "asks again with more room and less effort"},
	"capped-unsaid":           {does: "retry cut", why: "compares the usage with the limit; " + runsNone},
	"drop-called-length":      {does: "retry cut", why: runsNone},
	"response-incomplete":     {does: "retry cut", why: runsNone},
	"unknown-stop-reason":     {cost: used, does: "retry unknown", why: "does not accept an unknown end as success"},
	"no-content":              {cost: used, does: "retry empty", why: noSense},
	"no-content-billed":       {cost: used, does: "retry empty", why: noSense + "; the billed usage is booked"},
	"no-content-unbilled":     {cost: free, does: "retry empty", why: noSense + "; nothing is booked"},
	"refusal":                 {does: "refused", why: endsAtOnce},
	"content-filter":          {does: "refused", why: endsAtOnce},
	"refusal-after-reasoning": {does: "refused", why: endsAtOnce},
	"recitation":              {does: "refused", why: "says which filter it was, and not what the model had said by then; " + endsAtOnce},
	"continuation":            {does: "fine", why: "asks for the rest with the token, as far as the limit that was reserved allows, and joins it"},
	"malformed-function-call": {cost: used, does: "retry empty", why: noSense},
	"unexpected-tool-call":    {does: "retry empty", why: noSense},
	"prompt-blocked":          {does: "refused", why: endsAtOnce},
	"window-exceeded":         {cost: used, does: "fail too_long", why: "leaves older results out and asks the model once more; with none to leave out, the run ends and can be resumed"},
	"early-usage":             {does: "fine", why: "assigns usage, never adds it"},
	"no-usage":                {does: "fine", why: "books the estimate"},
	"pause-turn":              {does: "continue", why: "sends the turn back unchanged, so that the provider continues it"},

	"no-signature":     {does: "fine", why: "sends back nothing that would be refused, and requests no thinking where the provider would demand the missing part"},
	"duplicate-ids":    {does: "fine", why: ownIDs},
	"repeated-calls":   {does: "fine", why: "runs each once"},
	"id-is-tool-name":  {does: "fine", why: ownIDs},
	"odd-ids":          {does: "fine", why: ownIDs},
	"missing-id":       {does: "fine", why: ownIDs},
	"unknown-tool":     {does: "reject", why: "answers the call with the names of the tools"},
	"empty-text-block": {does: "fine", why: "neither keeps nor sends an empty text"},
	"surrogate-text":   {does: "fine", why: "replaces the escape by U+FFFD before the text becomes an entry"},

	"broken-text": {does: "fine", why: "replaces the byte by U+FFFD, and the log says so"},

	"broken-arguments":         {does: "reject", why: "answers the call with an error that says what is wrong; the other text of the reply is repaired"},
	"empty-arguments":          {does: "refuse", why: "reads no arguments as {}; the schema decides"},
	"missing-arguments":        {does: "refuse", why: "reads no arguments as {}; the schema decides"},
	"null-arguments":           {does: "refuse", why: "reads null as {}; the schema decides"},
	"array-arguments":          {does: "reject", why: explains},
	"string-arguments":         {does: "reject", why: explains},
	"double-encoded-arguments": {does: "reject", why: explains},
	"invalid-arguments":        {does: "reject", why: explains},
	"surrogate-arguments":      {does: "reject", why: "replaces the escape by U+FFFD before the arguments become an entry; the schema decides"},
	"huge-arguments":           {does: "reject", why: "keeps the length, not the arguments, and answers the call with it"},
	"deep-arguments":           {does: "reject", why: explains},
	"duplicate-keys":           {does: "reject", why: "answers the call with an error that says what is wrong; on the wire the last of the keys counts"},
	"huge-numbers":             {does: "reject", why: explains},
}
