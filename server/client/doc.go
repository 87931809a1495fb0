// Package client talks to a server of runs such as pawl serve: it starts and follows runs,
// decides what they wait for, and resumes them.
//
//	c, err := client.New("http://127.0.0.1:8080", token, nil)
//	…
//	run, err := c.Start(ctx, client.StartRun{Agent: "procurement", Input: "Find a vendor."})
//	for entry, err := range c.Follow(ctx, run.Run, 0) {
//		…
//	}
//
// The types are the JSON bodies of the API, which the server uses as well. Its refusals
// are [*Problem] errors.
package client
