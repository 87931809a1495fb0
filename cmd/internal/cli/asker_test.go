package cli_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-run/pawl/cmd/internal/cli"
	"github.com/pawl-run/pawl/internal/testkit/check"
)

// shop pays twice the same and once something else, each with approval, and
// returns the result.
var shop = map[string]string{
	"ledger.csv": "a,1\n",
	"shop.yaml": `
name: shop
model: script:shop.script.yaml
tools:
  - name: pay
    description: Pay.
    command: [stub, count, paid.txt]
    input: {type: object, properties: {amount: {type: number}, to: {type: string}}, required: [amount]}
    approval: required
    witness: [ledger.csv]
`,
	"shop.script.yaml": `
replies:
  - text: I shall pay now.
    calls: [{tool: pay, args: {amount: 200}}]
  - calls: [{tool: pay, args: {amount: 200}}, {tool: pay, args: {amount: 7}}]
  - {text: paid}
`,
}

// typing runs a command whose person types the lines.
func typing(t *testing.T, ctx context.Context, stdin io.Reader, environ []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	environ = append([]string{"XDG_STATE_HOME=" + filepath.Join(t.TempDir(), "never"), "PAWL_DATABASE=sqlite:runs.db", "PATH=" + os.Getenv("PATH")}, environ...)
	code = cli.Main(ctx, args, stdin, &out, &errs, environ)
	return code, out.String(), errs.String()
}

func effects(t *testing.T, file string) int {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Count(string(data), "\n")
}

// What a person types, and what becomes of the run.
func TestAsking(t *testing.T) {
	for name, c := range map[string]struct {
		types string
		code  int
		paid  int
		says  []string // on standard error
		never []string
	}{
		"yes each time": {"y\nyes\nonce\n", 0, 3, []string{
			"approve c_1? pay\n    {\n      \"amount\": 200\n    }\n  why: pay needs approval\n  the model says: I shall pay now.\n  lapses if one of these changes: command line, ledger.csv, program, working directory\n  expires: ",
			"approve c_3? pay\n    {\n      \"amount\": 7\n",
		}, []string{"waits", "needs approval: "}},
		"for the run":             {"r\ny\n", 0, 3, []string{"approve c_3?"}, []string{"approve c_2?"}},
		"for two more calls":      {"r two\nr 2 tip\nr 2 amount\n", 0, 3, []string{"not taken: \"two\" is not a number of calls", "not taken: pay has no argument tip"}, []string{"approve c_2?", "approve c_3?"}},
		"no with a reason":        {"n too dear\ny\nl\n", 5, 1, []string{"c_1: denied by", "too dear", "waits: approval c_3"}, []string{"why? The model"}},
		"nobody":                  {"", 5, 0, []string{"no answer (end of input); left for later", "waits: approval c_1"}, nil},
		"nonsense is asked again": {"\nmaybe\nyyy\nY\nl\nl\n", 5, 1, []string{"waits: approval c_2"}, nil},
		"edited in the answer": {"e {\"amount\": 5}\ny\nl\nl\n", 5, 1, []string{
			"    {\n      \"amount\": 5\n    }\n  edited: the model wanted {\"amount\":200}\n", "[1] c_1 pay {\"amount\":5}",
		}, nil},
		"edited wrongly": {"e 5\ne {\"amount\":\"x\"}\ne {\"amount\":1,\"tip\":2}\ne {\ny\nl\nl\n", 5, 1, []string{
			"not taken: ", "not taken: this is not JSON", "tip", "[1] c_1 pay {\"amount\":200}",
		}, []string{"edited: "}},
		"edited and not for the run": {"e {\"amount\":5}\nr\ny\nl\nl\n", 5, 1, []string{"edited arguments apply to this call only"}, nil},
	} {
		if testing.Short() && c.code == 5 && name != "nobody" {
			continue // what is typed differs, and not who waits for it
		}
		t.Run(name, func(t *testing.T) {
			files(t, shop)
			code, stdout, stderr := typing(t, t.Context(), strings.NewReader(c.types), nil, "run", "shop.yaml", "go", "--approvals", "ask")
			if code != c.code || effects(t, "paid.txt") != c.paid {
				t.Errorf("exit %d, paid %d times; want %d, %d\n%s%s", code, effects(t, "paid.txt"), c.code, c.paid, stdout, stderr)
			}
			for _, want := range c.says {
				if !strings.Contains(stderr, want) {
					t.Errorf("it does not say %q:\n%s", want, stderr)
				}
			}
			for _, never := range c.never {
				if strings.Contains(stderr, never) {
					t.Errorf("it says %q:\n%s", never, stderr)
				}
			}
			if (stdout == "paid\n") != (code == 0) {
				t.Errorf("stdout is %q", stdout)
			}
			if code, out, _ := invoke(t, t.Context(), nil, "replay", "last"); code != 0 {
				t.Errorf("it does not replay: %s", out)
			}
		})
	}
}

// What a model writes cannot reach the terminal nor hide what will run.
func TestAskingShowsAll(t *testing.T) {
	files(t, shop)
	evil := "replies:\n  - text: \"\\e]0;title\\a\\nall is well\\n approve c_9? nothing\"\n    calls: [{tool: pay, args: {amount: 1, to: \"safe\\e[8m\u202egnp.exe\u200b\u00a0\U000e0041\"}}]\n"
	must(t, os.WriteFile("shop.script.yaml", []byte(evil), 0o600))
	code, _, stderr := typing(t, t.Context(), strings.NewReader("l\n"), nil, "run", "shop.yaml", "go", "--approvals", "ask")
	if code != 5 || !strings.Contains(stderr, `"to": "safe\u001b[8m\u202egnp.exe\u200b\u00a0\U000e0041"`) {
		t.Errorf("exit %d\n%q", code, stderr)
	}
	if strings.ContainsAny(stderr, "\x1b\x07\u202e") || strings.Contains(stderr, "\n approve c_9") {
		t.Errorf("the terminal is told %q", stderr)
	}
}

// What looks like a secret is not put on a terminal, and that it is not is said.
func TestAskingHidesSecrets(t *testing.T) {
	files(t, shop)
	model := "replies:\n  - calls: [{tool: pay, args: {amount: 1, to: ghp_16C7e42F292c6912E7710c838347Ae178B4a}}]\n"
	must(t, os.WriteFile("shop.script.yaml", []byte(model), 0o600))
	code, _, stderr := typing(t, t.Context(), strings.NewReader("e {\"amount\":2}\nl\n"), nil, "run", "shop.yaml", "go", "--approvals", "ask")
	if code != 5 || strings.Contains(stderr, "16C7e42F292c6912E7710c838347Ae178B4a") || strings.Count(stderr, "  hidden: what looks like a secret") != 1 {
		t.Errorf("exit %d\n%s", code, stderr)
	}
}

// What is decided elsewhere meanwhile goes before, and what is typed for it
// answers no other question.
func TestAskingIsOvertaken(t *testing.T) {
	files(t, shop)
	stdin, keys := io.Pipe()
	seen := &check.Log{}
	done := make(chan int, 1)
	go func() {
		done <- cli.Main(t.Context(), []string{"run", "shop.yaml", "go", "--approvals", "ask"}, stdin, io.Discard, seen,
			[]string{"PAWL_DATABASE=sqlite:runs.db", "PATH=" + os.Getenv("PATH")})
	}()
	asked := func(call string) {
		t.Helper()
		if !soon(func() bool {
			_, shown, _ := strings.Cut(seen.String(), "approve "+call+"?")
			return strings.Contains(shown, "y approves it")
		}) {
			t.Fatalf("nobody is asked about %s:\n%s", call, seen)
		}
	}
	asked("c_1")
	if code, _, stderr := invoke(t, t.Context(), nil, "deny", "last", "c_1", "--reason", "no", "--no-continue"); code != 0 {
		t.Fatal(stderr)
	}
	asked("c_2")
	if !soon(func() bool { // who answers is asked right after what is shown
		_, err := keys.Write([]byte("maybe\n"))
		return err == nil && strings.Count(seen.String(), "y approves it") > 2
	}) {
		t.Fatalf("nobody reads what is typed:\n%s", seen)
	}
	_, err := keys.Write([]byte("y\nl\n"))
	must(t, err)
	_ = keys.Close() // it cannot fail
	code := <-done
	if code != 5 || effects(t, "paid.txt") != 1 || !strings.Contains(seen.String(), "c_1: denied by") || !strings.Contains(seen.String(), "waits: approval c_3") {
		t.Errorf("exit %d, paid %d times\n%s", code, effects(t, "paid.txt"), seen)
	}
}

// A person who is asked when the run is to be let go of does not hold it up.
func TestAskingIsInterrupted(t *testing.T) {
	files(t, shop)
	stdin, keys := io.Pipe()
	defer keys.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		soon(func() bool {
			_, out, _ := invoke(t, t.Context(), nil, "runs", "--json", "--status", "waiting_approval")
			return out != ""
		})
		cancel()
	}()
	code, _, stderr := typing(t, ctx, stdin, nil, "run", "shop.yaml", "go", "--approvals", "ask")
	if code != 5 && code != 130 || effects(t, "paid.txt") != 0 {
		t.Errorf("exit %d\n%s", code, stderr)
	}
	if code, out, _ := invoke(t, t.Context(), nil, "approve", "last", "--continue", "--approvals", "park"); code != 5 || effects(t, "paid.txt") != 1 {
		t.Errorf("it cannot go on: exit %d, %s", code, out)
	}
}
