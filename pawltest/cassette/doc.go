// Package cassette records the exchanges between a program and a model provider once, with
// a real key, and answers from the recording afterwards: in CI, offline, without cost.
//
//	func TestHello(t *testing.T) {
//		brain := openai.New("gpt-5-mini", &openai.Options{
//			HTTPClient: cassette.Client(t, "testdata/hello.txtar", nil),
//		})
//		…
//	}
//
// With PAWL_RECORD=1 in the environment the test talks to the provider and writes the file;
// without, it needs no network and no key. A cassette's client is an ordinary
// [net/http.Client], so it fits the HTTPClient option of every adapter and any other code
// that takes one.
//
// # Replaying
//
// Requests must come as they were recorded: the same method, address and body, in the same
// order. JSON bodies are compared in canonical form, so the order of keys and white space
// do not matter. Headers are not compared. Requests that overlapped during recording may
// come in any order; with [Options.AnyOrder] all may. A request that differs gets status
// 400, which no adapter retries, and the test fails with the difference. The test also
// fails if recorded exchanges were not requested.
//
// # Secrets
//
// Authorization, API keys, cookies, passwords in addresses, and parameters with names like
// keys are written as SECRET, and so is every other occurrence of their values, such as in
// an error that quotes the key. List other secret values in [Options.Secrets]. A secret
// that a model spells out in several events of a stream is not found: look at a cassette
// before you commit it.
//
// # The file
//
// A cassette is a txtar file that is meant to be reviewed. Requests are listed where they
// were sent and responses where they ended, each with its number:
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
// A line with + has the time of the bytes below it, counted from the request. Each line of
// a body begins with its line end: | is a line feed, ^ a carriage return and a line feed, .
// nothing. A line that is not plain text follows = as a Go string. The last line is one of
//
//	end              the response was whole
//	left             the client read no further
//	cancelled        the client's context ended
//	cut: REASON      the response broke off
//	failed: REASON   there was no response
package cassette
