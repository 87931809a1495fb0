// Package script implements a model that answers from a file, for tests,
// documentation and demonstrations: `--model script:FILE`.
//
// A script is YAML or JSON and lists replies. The reply depends only on the
// request, never on earlier calls, so a run that is killed and resumed at any
// point gets the same replies. The turn is one more than the number of
// assistant messages in the request, including those that a summary replaces,
// and the nth reply answers turn n.
//
//	replies:
//	  - text: Let me look.                      # streamed, then part of the reply
//	    calls: [{tool: search, args: {q: shoes}}]
//	  - text: Blue ones, 40 euros.
//
// docs/scripts.md, which `pawl docs scripts` prints, describes every key of a
// script. A script in Go has the same parts: [Script], [Reply], [Call].
//
// [Record] writes the script of a run that took place, with strict: true.
package script
