package testkit

import (
	"fmt"
	"strings"

	"github.com/pawl-run/pawl"
)

// Conversation returns what a model was sent, one line for each message.
func Conversation(messages []pawl.Message) string {
	var b strings.Builder
	for _, m := range messages {
		fmt.Fprintf(&b, "%v:", m.Role)
		for _, p := range m.Parts {
			switch p := p.(type) {
			case pawl.Text:
				fmt.Fprintf(&b, " %q", p.Text)
			case pawl.Thinking:
				fmt.Fprintf(&b, " ~%q", p.Text)
			case pawl.Citation:
				fmt.Fprintf(&b, " cite=%q", p.Title+"|"+p.URL+"|"+p.Quote)
			case pawl.Call:
				fmt.Fprintf(&b, " %s:%s%s", p.ID, p.Tool, p.Args)
			case pawl.ToolResult:
				fmt.Fprintf(&b, " [%s: %s]", p.Call, p.Text())
			case pawl.File:
				fmt.Fprintf(&b, " (%s)", p.Type)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}
