// Package client talks to a server of runs, as pawl serve is one: it starts runs,
// follows them, decides about what they wait for, and goes on with them.
//
//	c, err := client.New("http://127.0.0.1:8080", token, nil)
//	…
//	run, err := c.Start(ctx, client.StartRun{Agent: "procurement", Input: "Find a vendor."})
//	for entry, err := range c.Follow(ctx, run.Run, 0) {
//		…
//	}
//
// The types here are the JSON that both sides speak; the server knows no others.
// What it refuses is a [*Problem].
package client
