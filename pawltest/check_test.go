package pawltest

import (
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/testkit"
)

func user(parts ...pawl.Part) pawl.Message { return pawl.Message{Role: pawl.RoleUser, Parts: parts} }
func model(parts ...pawl.Part) pawl.Message {
	return pawl.Message{Role: pawl.RoleAssistant, Parts: parts}
}
func call(id string) pawl.Part   { return pawl.Call{ID: id, Tool: "t", Args: []byte("{}")} }
func result(id string) pawl.Part { return pawl.ToolResult{Call: id, Content: []byte("1")} }
func said(s string) pawl.Part    { return pawl.Text{Text: s} }

// TestCheckObjects: what a provider would refuse is found, and nothing else.
func TestCheckObjects(t *testing.T) {
	begin := user(said("go"))
	for want, messages := range map[string][]pawl.Message{
		"":                             {begin, model(call("a"), call("b")), user(result("a"), result("b"), said("x")), model(said("done")), user(said("more"))},
		"does not speak first":         {model(said("hi"))},
		"calls [a] have no results":    {begin, model(call("a"))},
		"has results of [a], want":     {begin, model(call("a"), call("b")), user(result("a"))},
		"has results of [b a], want":   {begin, model(call("a"), call("b")), user(result("b"), result("a"))},
		"does not stand in front":      {begin, model(call("a")), user(said("x"), result("a"))},
		"stands twice":                 {begin, model(call("a")), user(result("a")), model(call("a")), user(result("a"))},
		"is empty":                     {begin, model()},
		"two user turns in a row":      {begin, user(said("x"))},
		"in the wrong mouth":           {begin, model(result("a"))},
		"has results of [a], want []":  {begin, model(said("x")), user(result("a"))},
		"message 0 has results of not": {user(result("a"))},
	} {
		err := wellFormed(messages)
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q:\n%s", err, want, testkit.Conversation(messages))
		}
	}
	older := pawl.Request{Messages: []pawl.Message{begin, model(call("a")), user(result("a"))}}
	for want, newer := range map[string]pawl.Request{
		"":                    {Messages: []pawl.Message{begin, model(call("a")), user(result("a"), said("x")), model(said("y"))}},
		"message 0 changed":   {Messages: []pawl.Message{user(said("stop")), model(call("a")), user(result("a"))}},
		"message 1 changed":   {Messages: []pawl.Message{begin, model(call("a"), said("x")), user(result("a"))}},
		"3 messages became 1": {Messages: []pawl.Message{begin}},
		"prompt changed":      {System: "x", Messages: older.Messages},
		"tools changed":       {Tools: []pawl.ToolInfo{{Name: "t"}}, Messages: older.Messages},
		"message 2 changed":   {Messages: []pawl.Message{begin, model(call("a")), user(said("x"))}},
	} {
		err := extends(older, newer)
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
