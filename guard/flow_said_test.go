package guard

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// What a sentence forbids is not named by it, and what stands beside it is.
func TestPermitted(t *testing.T) {
	for text, want := range map[string]string{
		"Never write to eve@x.example!":                                     "",
		"Write to ann@x.example. Never write to eve@x.example.":             "ann@x.example",
		"Write to ann@x.example, not to eve@x.example":                      "ann@x.example",
		"Write to ann@x.example, but don't write to eve@x.example":          "ann@x.example",
		"Write to ann@x.example and do not write to eve@x.example":          "ann@x.example",
		"Write to all of them except eve@x.example":                         "",
		"Do not tell eve@x.example, Mr. Bob, or\nann@x.example":             "",
		"Never write to these:\n- eve@x.example\n- ann@x.example":           "",
		"Never write to these:\n- eve@x.example\n\nWrite to ann@x.example":  "ann@x.example",
		"Write to these:\n- ann@x.example\n- not eve@x.example":             "ann@x.example",
		"If it has no salaries in it, send it to ann@x.example":             "ann@x.example",
		"If eve@x.example writes, do not answer or call ann@x.example":      "",
		"If she asks, you must not answer eve@x.example, or ann@x.example":  "",
		"Don't forget to write to ann@x.example":                            "ann@x.example",
		"Tell ann@x.example that I cannot come":                             "ann@x.example",
		`Send "never say never" to ann@x.example`:                           "ann@x.example",
		"eve@x.example gets nothing":                                        "",
		"Look at no. 7 of ann@x.example":                                    "ann@x.example",
		"She isn’t to get it: eve@x.example":                                "",
		"Do not write to eve@x.example; nor to ann@x.example. Call b@x.org": "b@x.org",
	} {
		s := newSpeech()
		s.hear(text)
		var got []string
		for _, a := range []string{"ann@x.example", "b@x.org", "eve@x.example"} {
			if _, ok := s.find(a); ok {
				got = append(got, a)
			} else if _, forbidden := s.never.find(a); !forbidden && strings.Contains(text, a) {
				t.Errorf("%q neither permits nor forbids %s", text, a)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q permits %q, want %q", text, got, want)
		}
	}
}

// FuzzHeard: whatever people say is heard in time in proportion to it, and what is
// permitted is what they said.
func FuzzHeard(f *testing.F) {
	for _, text := range []string{"If no, do. If not:\n- x\n\n“never” `a` don't!", "é. \xff not \u2028 no 5", strings.Repeat("if no, ", 2000)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = text[:min(len(text), 1<<16)]
		begin := time.Now()
		s := newSpeech()
		s.hear(text)
		if d := time.Since(begin); d > 5*time.Second {
			t.Errorf("%d bytes took %v", len(text), d)
		}
		for _, exact := range s.exact {
			if len(exact) != len(text) {
				t.Errorf("%q becomes %q", text, exact)
			}
			for i := range len(exact) {
				if exact[i] != 0 && exact[i] != text[i] {
					t.Fatalf("%q becomes %q", text, exact)
				}
			}
		}
		s.commands("rm -r x", true)
		away(text)
	})
}

// A verb permits where it stands as an instruction.
func TestOrdered(t *testing.T) {
	for text, want := range map[string]string{
		"Cancel the lunch":                                   "cancel",
		"Please cancel it":                                   "cancel",
		"Look at it and cancel it":                           "cancel",
		"Look at it, then cancel it":                         "cancel",
		"If it is late, cancel it":                           "cancel",
		"Can you cancel it?":                                 "cancel",
		"Could you look at it and cancel it?":                "cancel",
		"I want you to cancel it":                            "cancel",
		"I would like to cancel it":                          "cancel",
		"You may cancel it":                                  "cancel",
		"To do:\n- cancel it":                                "cancel",
		"Read it.\nCancel it":                                "cancel",
		"What does it cost to cancel it?":                    "",
		"Tell me how I need to cancel it":                    "",
		"Tell me what it costs to cancel it":                 "",
		"Look at the last cancel":                            "",
		"List what I cancelled":                              "",
		"Should I look at it and cancel it?":                 "",
		"Do not cancel it":                                   "",
		"Look at it, but do not cancel it":                   "",
		"Cancel nothing":                                     "",
		`Which mail says "cancel it"?`:                       "",
		"Read https://cancel.example/now and say what it is": "",
	} {
		s := newSpeech()
		s.hear(text)
		if got := s.ordered("cancel_event"); got != (want != "") {
			t.Errorf("%q: ordered is %v", text, got)
		}
	}
	for _, text := range []string{"Do not delete it", "Never remove or delete it", "Avoid deleting it", "Delete nothing", "Read it, but don't erase it"} {
		s := newSpeech()
		s.hear(text)
		if !s.forbade("delete_file") {
			t.Errorf("%q does not forbid to delete", text)
		}
	}
}

// A command is named from where it begins to where it ends.
func TestCommands(t *testing.T) {
	for text, want := range map[string][]string{
		"Run rm -r build --dry-run":                                       {"rm -r build --dry-run"},
		"Run the tests with go test ./... and tell me":                    {"go test ./..."},
		`Use "go test ./..." for it`:                                      {"go test ./..."},
		"Run `make lint`, please.":                                        {"make lint"},
		"Run this:\nmake lint\nmake test\n":                               {"make lint", "make test"},
		"Run: make test && make deploy":                                   {"make test && make deploy"},
		`Run git commit -m "make deploy"`:                                 {`git commit -m "make deploy"`},
		"Run DELETE FROM users WHERE id = 7 and active = 0 in the tables": {"delete from users where id = 7 and active = 0"},
		"Run SELECT count(*) FROM users and compare it with that":         {"select count(*) from users"},
		"Never run make deploy":                                           nil,
		"Tell me whether to make deploy or test":                          nil,
		"Say sudo make deploy":                                            nil,
	} {
		s := newSpeech()
		s.hear(text)
		var got []string
		for _, command := range []string{"rm -r build --dry-run", "rm -r build", "go test ./...", "make lint", "make test && make deploy", "make test", "make deploy",
			`git commit -m "make deploy"`, "delete from users where id = 7 and active = 0", "delete from users where id = 7", "delete from users", "select count(*) from users"} {
			if s.commands(command, false) {
				got = append(got, command)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q names %q, want %q", text, got, want)
		}
	}
}

func TestAway(t *testing.T) {
	for text, want := range map[string]bool{
		"evil.com/key": true, "s3cr3t.evil.com": true, "203.0.113.5/x": true, "203.0.113.5": true, "[2001:db8::1]/x": true, "//evil.com/x": true,
		`HTTP:\\evil.com\x`: true, "https://evil.com/a b": true, "s3cr3t@evil.com": true, `\\evil.com\x`: true, "mailto:eve": true, "evil.com:443": true,
		"evil.sh/x": true, "x.evil.rs": true, "EVIL.COM.": true, "evil.com?k": true, "user@evil.com/x": true,
		"main.rs": false, "a.b.c": false, "src/main.go": false, "README.md": false, "notes": false, "1.5": false, "v1.2.3": false, "@ann": false,
		"conf.d/x": false, "evil.com is bad": false, "a/evil.com": false, "key: value": false, "": false,
	} {
		if got := away(text); got != want {
			t.Errorf("%q leads away: %v", text, got)
		}
	}
}
