// Package cassette records what a program and a model provider said to each
// other, once, with a real key, and answers from the record ever after: in CI,
// offline, for nothing.
//
//	func TestHello(t *testing.T) {
//		brain := openai.New("gpt-5-mini", &openai.Options{
//			HTTPClient: cassette.Client(t, "testdata/hello.txtar", nil),
//		})
//		…
//	}
//
// With PAWL_RECORD=1 in the environment the test talks to the provider and
// writes the file; without, it needs no network and no key. A client of a
// cassette is an ordinary [net/http.Client], so it is the HTTPClient of every
// adapter, and of anything else that takes one.
//
// # Replaying
//
// Requests must come as they were recorded: the same method, address and body,
// in the same order. Bodies that are JSON are compared in canonical form, so the
// order of keys and white space do not matter. Headers are not compared. Requests
// that overlapped when they were recorded may come in any order;
// [Options.AnyOrder] lets all of them. A request that differs is answered 400,
// which no adapter sends again, and fails the test with the difference, as do
// exchanges that were not asked for.
//
// # Secrets
//
// Authorization, API keys, cookies, passwords in addresses and parameters that
// are named like keys are written as SECRET, and so is every further occurrence
// of what they held, such as in an error that quotes the key. Other values that
// must not be seen go into [Options.Secrets]. A secret that a model spells out
// in several events of a stream is not found: look at a cassette before you
// commit it.
//
// # The file
//
// A cassette is a txtar file that is meant to be reviewed. The requests stand
// where they were sent and the responses where they ended, each with its number:
//
//	-- 1 request --
//	POST https://api.openai.com/v1/chat/completions
//	Authorization: SECRET
//	Content-Type: application/json
//
//	{
//	  "model": "gpt-5-mini",
//	  …
//	}
//	-- 1 response --
//	HTTP 200 after 412ms
//	Content-Type: text/event-stream
//
//	+413ms
//	|data: {"choices":[{"delta":{"content":"Hel"}}]}
//	|
//	+440ms
//	|data: {"choices":[{"delta":{"content":"lo"}}]}
//	|
//	end
//
// A line with + says when the bytes below it came, counted from the request.
// Each line of a body begins with what ends it: | a line feed, ^ a carriage
// return and a line feed, . nothing. One that cannot be read as it is stands
// behind = as a Go string. The last line is one of
//
//	end              the response was whole
//	left             the client read no further
//	cancelled        the client's context ended
//	cut: REASON      the response broke off
//	failed: REASON   there was no response
package cassette
