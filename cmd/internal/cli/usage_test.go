package cli_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

var (
	helpCommand = regexp.MustCompile(`(?m)^  ([a-z]+) {2,}\S`)
	helpFlag    = regexp.MustCompile(`(?m)^ +(?:-\w, )?--([a-z-]+)(?: (\S+))?`)
)

// Every command is in a group and has a long help with an example. Each wrong use of
// each flag is one line that names the flag and where to read more.
func TestUsageOfEveryCommand(t *testing.T) {
	if testing.Short() {
		t.Skip("one command after another: -short")
	}
	t.Chdir(t.TempDir())
	_, top, _ := invoke(t, t.Context(), nil, "--help")
	if strings.Contains(top, "Additional Commands") {
		t.Errorf("a command is in no group:\n%s", top)
	}
	commands := helpCommand.FindAllStringSubmatch(top, -1)
	if len(commands) < 25 {
		t.Fatalf("found only %q in\n%s", commands, top)
	}
	refused := func(names string, args ...string) {
		t.Helper()
		code, stdout, stderr := invoke(t, t.Context(), nil, args...)
		if code != 2 || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "pawl: ") ||
			!strings.Contains(stderr, names) || !strings.Contains(stderr, "pawl "+args[0]+" --help") {
			t.Errorf("pawl %s exits with %d and says\n%s%s", strings.Join(args, " "), code, stdout, stderr)
		}
	}
	for _, m := range commands {
		name := m[1]
		code, help, _ := invoke(t, t.Context(), nil, name, "--help")
		if code != 0 || !strings.Contains(help, "Examples:\n  ") || !regexp.MustCompile(`(?m)^  .*pawl `+name).MatchString(help) || strings.Index(help, "Usage:") < 60 {
			t.Errorf("pawl %s --help exits with %d and says\n%s", name, code, help)
		}
		if name == "help" { // it takes no flags of its own
			continue
		}
		refused("unknown flag: --nonsense", name, "--nonsense")
		for _, f := range helpFlag.FindAllStringSubmatch(help, -1) {
			flag, kind := "--"+f[1], f[2]
			switch kind {
			case "", `string[="last"]`:
				if flag != "--help" && kind == "" {
					refused(flag, name, flag+"=maybe")
				}
				continue
			case "int", "uint", "duration", "ask|park|deny":
				refused(flag, name, flag+"=nonsense")
			}
			refused("flag needs an argument: "+flag, name, flag)
		}
		if name != "serve" && name != "worker" && name != "doctor" && name != "upgrade" && name != "approve" && name != "deny" && name != "completion" { // they take any number
			refused(name, append([]string{name}, strings.Fields(strings.Repeat("x ", 9))...)...)
		}
	}
}

func TestUsage(t *testing.T) {
	files(t, map[string]string{"four.yaml": "replies: [{text: Four.}]\n"})
	for _, c := range []struct {
		args string // separated by |
		want string // of standard error; empty: the question is answered
	}{
		{"run|--limti|x", "pawl: unknown flag: --limti (did you mean --limit?); see pawl run --help"},
		{"rnu|a.yaml", "pawl: there is no command rnu (did you mean run?); pawl ask TEXT asks a question; see pawl --help"},
		{"rnu|a.yaml|Do a thing.", "pawl: there is no command rnu (did you mean run?); pawl ask TEXT asks a question; see pawl --help"},
		{"help|rnu", "pawl: there is no command rnu (did you mean run?); pawl ask TEXT asks a question; see pawl help --help"},
		{"rnu|--help", "pawl: there is no command rnu (did you mean run?); pawl ask TEXT asks a question; see pawl --help"},
		{"--limti|x", "pawl: unknown flag: --limti; see pawl --help"},
		{"rnu|--label|a=b c|--model|script:four.yaml", "pawl: there is no command rnu (did you mean run?); pawl ask TEXT asks a question; see pawl --help"},
		{"hello", "pawl: there is no command hello (did you mean help?); pawl ask TEXT asks a question; see pawl --help"},
		{"show", "pawl: show got 0 arguments; write pawl show RUN; see pawl show --help"},
		{"version|x", "pawl: version got 1 argument; write pawl version; see pawl version --help"},
		{"settle|last|c_1", "pawl: at least one of the flags in the group [happened did-not-happen] is required; see pawl settle --help"},
		{"show|last|--spec|--cost", "pawl: if any flags in the group [spec cost files] are set none of the others can be; [cost spec] were all set; see pawl show --help"},
		{"fork|last", `pawl: required flag(s) "at" not set; see pawl fork --help`},
		{"ask|what|is|it", `pawl: ask takes one text; put it in quotes: pawl ask "what is it"; see pawl ask --help`},
		{"ask|-x", "pawl: unknown shorthand flag: 'x' in -x; see pawl ask --help"},
		{"run|what is 2+2?", `pawl: "what is 2+2?" is not a spec, which is a file such as agent.yaml; pawl ask "what is 2+2?" asks it`},
		{"what is 2+2?|--quiet|--model|script:four.yaml", ""},
		{"--quiet|--model|script:four.yaml|what is 2+2?", ""},
		{"--model|script:four.yaml|--quiet|--|--what is 2+2?", ""},
		{"2+2?|--quiet|--model|script:four.yaml", ""},
		{"-f|four.yaml|what is 2+2?|--quiet|--model=script:four.yaml", ""},
	} {
		code, stdout, stderr := invoke(t, t.Context(), strings.NewReader(""), strings.Split(c.args, "|")...)
		want := fmt.Sprint(2, "", c.want+"\n")
		if c.want == "" {
			want = fmt.Sprint(0, "Four.\n", "")
		}
		if got := fmt.Sprint(code, stdout, stderr); got != want {
			t.Errorf("%s: %s, want %s", c.args, got, want)
		}
	}
}

// Shells get a script that completes commands and flags.
func TestCompletion(t *testing.T) {
	t.Chdir(t.TempDir())
	for args, want := range map[string]string{"runs|--ma": "--max\t", "e": "events\t.*\nexplain\t.*\nexport\t"} {
		code, stdout, stderr := invoke(t, t.Context(), nil, append([]string{"__complete"}, strings.Split(args, "|")...)...)
		if code != 0 || !regexp.MustCompile(want).MatchString(stdout) {
			t.Errorf("%s completes as\n%s%s", args, stdout, stderr)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if code, stdout, _ := invoke(t, t.Context(), nil, "completion", shell); code != 0 || !strings.Contains(stdout, "pawl") {
			t.Errorf("completion for %s exits with %d", shell, code)
		}
	}
}
