package approval_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/approval"
	"github.com/pawl-run/pawl/internal/expr"
)

func holds(*pawl.State, pawl.Classified) bool { return true }

// Which rules make of which calls what, and what the approver is told.
func TestReview(t *testing.T) {
	tools := []string{"search read", "put idempotent", "delete_file", "delete_row", "submit_po", "pick client"}
	calls := []string{
		`search {}`, `delete_file {"path":"a"}`, `submit_po {"amount":250}`, `submit_po {"amount":50}`, `submit_po {}`,
		`pick {}`, `__store_memory__ {"key":"k","value":1}`, `__pause_for_human__ {"question":"?"}`, `nowhere {}`,
	}
	plain := []string{
		"c_1 run", "c_2 run", "c_3 run", "c_4 run", "c_5 run", "c_6 hand", "c_7 reuse", "c_8 hand",
		`c_9 refuse there is no tool "nowhere"; there are search, put, delete_file, delete_row, submit_po, pick, __complete__, __pause_for_human__, __store_memory__, __retrieve_memory__, __log_progress__`,
	}
	for name, c := range map[string]struct {
		rules []pawl.Policy
		want  map[int]string // by call, where it differs from plain
	}{
		"none":           {},
		"by name":        {[]pawl.Policy{approval.For("delete_file")}, map[int]string{2: "ask delete_file needs approval"}},
		"by pattern":     {[]pawl.Policy{approval.For("put", "delete_*")}, map[int]string{2: "ask delete_* needs approval"}},
		"by another":     {[]pawl.Policy{approval.For("delete_r*")}, nil},
		"by effect":      {[]pawl.Policy{approval.ForEffect(pawl.Read)}, map[int]string{1: "ask every read needs approval"}},
		"by client tool": {[]pawl.Policy{approval.For("pick")}, map[int]string{6: "ask pick needs approval"}},
		"by everything": {[]pawl.Policy{approval.For("*")}, map[int]string{
			1: "ask * needs approval", 2: "ask * needs approval", 3: "ask * needs approval", 4: "ask * needs approval", 5: "ask * needs approval", 6: "ask * needs approval",
		}},
		"by undeclared effect": {[]pawl.Policy{approval.ForEffect(pawl.Idempotent, pawl.Write)}, map[int]string{
			2: "ask every write needs approval", 3: "ask every write needs approval", 4: "ask every write needs approval", 5: "ask every write needs approval", 6: "ask every write needs approval",
		}},
		"by arguments": {[]pawl.Policy{approval.When("submit_*", "args.amount>100")}, map[int]string{
			3: "ask submit_* needs approval when args.amount > 100",
			5: "ask submit_* needs approval when args.amount > 100, which cannot be told: args.amount is missing or null",
		}},
		"by function": {[]pawl.Policy{approval.Func("big order", func(s *pawl.State, d pawl.Classified) bool {
			return s.Iteration() == 1 && d.Info().Effect == pawl.Write && strings.Contains(string(d.Call.Args), "250")
		})}, map[int]string{3: `ask "big order" asks for approval`}},
		"by a function that panics": {[]pawl.Policy{approval.Func("big order", func(_ *pawl.State, d pawl.Classified) bool {
			return d.Call.Args[100] == 0
		})}, map[int]string{
			1: `ask "big order" asks for approval, because it panicked`, 2: `ask "big order" asks for approval, because it panicked`,
			3: `ask "big order" asks for approval, because it panicked`, 4: `ask "big order" asks for approval, because it panicked`,
			5: `ask "big order" asks for approval, because it panicked`, 6: `ask "big order" asks for approval, because it panicked`,
		}},
		"never": {[]pawl.Policy{approval.Never("delete_*")}, map[int]string{
			2: "refuse delete_file is denied here and cannot be approved; find another way, or say that there is none",
		}},
		"never the machine's by a general pattern": {[]pawl.Policy{approval.Never("*")}, map[int]string{
			1: "refuse search" + never, 2: "refuse delete_file" + never, 3: "refuse submit_po" + never, 4: "refuse submit_po" + never,
			5: "refuse submit_po" + never, 6: "refuse pick" + never,
		}},
		"never the machine's by its own": {[]pawl.Policy{approval.Never("__store*")}, map[int]string{7: "refuse __store_memory__" + never}},
		"several": {[]pawl.Policy{approval.For("submit_po"), approval.ForEffect(pawl.Write), approval.For("submit_po"), approval.When("submit_po", "args.amount > 100")}, map[int]string{
			2: "ask every write needs approval",
			3: "ask submit_po needs approval; every write needs approval; submit_po needs approval when args.amount > 100",
			4: "ask submit_po needs approval; every write needs approval",
			5: "ask submit_po needs approval; every write needs approval; submit_po needs approval when args.amount > 100, which cannot be told: args.amount is missing or null",
			6: "ask every write needs approval",
		}},
		"never goes before any": {[]pawl.Policy{approval.For("delete_*"), approval.Never("delete_*"), approval.Func("all", holds)}, map[int]string{
			1: `ask "all" asks for approval`, 2: "refuse delete_file" + never, 3: `ask "all" asks for approval`,
			4: `ask "all" asks for approval`, 5: `ask "all" asks for approval`, 6: `ask "all" asks for approval`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s, act := batch(t, agent(tools...), calls...)
			want := append([]string{}, plain...)
			for i, text := range c.want {
				want[i-1] = strings.Fields(want[i-1])[0] + " " + text
			}
			if diff := cmp.Diff(want, settle(t, s, act, c.rules...)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(plain, lines(act)); diff != "" {
				t.Errorf("the batch that was reviewed was written into (-want +got):\n%s", diff)
			}
		})
	}
}

const never = " is denied here and cannot be approved; find another way, or say that there is none"

// Reasons that hold what stands between reasons are still told once.
func TestReasonsConverge(t *testing.T) {
	s, act := batch(t, agent("say"), `say {"text":"a; b"}`)
	got := settle(t, s, act, approval.When("say", `args.text == "a; b"`), approval.For("say"))
	if diff := cmp.Diff([]string{`c_1 ask say needs approval when args.text == "a; b"; say needs approval`}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A rule prints as source, which parses and prints the same.
func TestSource(t *testing.T) {
	for want, p := range map[string]pawl.Policy{
		`approval("delete_*", "drop_*")`:                   approval.For("delete_*", "drop_*"),
		`approval_effect(idempotent, write)`:               approval.ForEffect(pawl.Idempotent, pawl.Write),
		`approval_when("submit_po", args.amount > 100)`:    approval.When("submit_po", "args.amount>100"),
		"approval_when(\"x\", args.path == `C:\\temp`)":    approval.When("x", "args.path == `C:\\temp`"),
		`approval_func("big \"order\"")`:                   approval.Func(`big "order"`, holds),
		`never("shell_*")`:                                 approval.Never("shell_*"),
		`approval_when("a", args.x && (args.y || args.z))`: approval.When("a", "args.x&&(args.y||args.z)"),
	} {
		if got := p.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		n, err := expr.Parse(want)
		if err != nil || n.String() != want {
			t.Errorf("%s does not parse back: %v", want, err)
		}
	}
}

// An agent that may have to wait for a person says so.
func TestWaits(t *testing.T) {
	for _, c := range []struct {
		rule pawl.Policy
		want bool
	}{{approval.For("a"), true}, {approval.ForEffect(pawl.Write), true}, {approval.When("a", "args.x"), true}, {approval.Func("f", holds), true}, {approval.Never("a"), false}} {
		a := agent("a")
		a.Builtins, a.Policies = false, []pawl.Policy{c.rule}
		m, err := pawl.NewMachine(a)
		if err != nil || m.Waits() != c.want {
			t.Errorf("%v: waits is %v, want %v (%v)", c.rule, !c.want, c.want, err)
		}
	}
}

// What is wrong with a rule is told when its agent is prepared.
func TestCheck(t *testing.T) {
	a := agent("delete_file", "delete_row", "submit_po")
	a.Tools = append(a.Tools, declared{Name: "order", Description: "Order.",
		Input: json.RawMessage(`{"type":"object","properties":{"amount":{"type":"number"},"vendor":{"type":"string"}}}`)})
	a.Tools = append(a.Tools, declared{Name: "stop", Description: "Stop."})
	for _, c := range []struct {
		rule pawl.Policy
		want string
	}{
		{approval.For("delete_*"), ""},
		{approval.For("delete_row", "submit_po"), ""},
		{approval.For(), `policy approval(): it names no tool (give a name or a pattern such as "delete_*")`},
		{approval.For(""), `policy approval(""): a pattern is empty (write the name of a tool, or * for all)`},
		{approval.For("delete_[ab]"), `policy approval("delete_[ab]"): "delete_[ab]" is not a valid pattern: no tool has a '[' in its name (write letters, digits, _ and -, * for any characters and ? for one)`},
		{approval.For("delet_file"), `policy approval("delet_file"): no tool fits "delet_file" (did you mean delete_file?)`},
		{approval.For("delte_*"), `policy approval("delte_*"): no tool fits "delte_*" (did you mean delete_*?)`},
		{approval.For("drop_*"), ""}, // for tools that may come
		{approval.For("shell"), `policy approval("shell"): no tool fits "shell" (there is delete_file, delete_row, order, stop, submit_po)`},
		{approval.For("shell", "exec"), "policy approval(\"shell\", \"exec\"): no tool fits \"shell\" (there is delete_file, delete_row, order, stop, submit_po)\n" +
			"no tool fits \"exec\" (there is delete_file, delete_row, order, stop, submit_po)"},
		{approval.For("__complete__"), `policy approval("__complete__"): "__complete__" names a tool of the machine, which changes nothing and needs no approval`},
		{approval.ForEffect(pawl.Read), ""},
		{approval.ForEffect(), "policy approval_effect(): it names no effect (give pawl.Write, for one)"},
		{approval.ForEffect(7), "policy approval_effect(effect(7)): 7 is not an effect (use pawl.Read, pawl.Idempotent or pawl.Write)"},
		{approval.When("order", "args.amount > 100"), ""},
		{approval.When("submit_po", "args.anything"), ""},
		{approval.When("order", "args.amout > 100"), `policy approval_when("order", args.amout > 100): column 1: the tool order has no argument amout (did you mean amount?)`},
		{approval.When("stop", "args.why == null"), `policy approval_when("stop", args.why == null): column 1: the tool stop has no argument why`},
		{approval.When("oder", "args.amount > 100"), `policy approval_when("oder", args.amount > 100): no tool fits "oder" (did you mean order?)`},
		{approval.When("order", "args.amount >"), `policy approval_when("order", args.amount >): column 14: expected a name, a value, ! or (, found the end`},
		{approval.When("order", "amount > 100"), `policy approval_when("order", amount > 100): column 1: unknown name amount (there is args)`},
		{approval.When("order", "matches(args.vendor)"), `policy approval_when("order", matches(args.vendor)): column 1: unknown function matches`},
		{approval.When("order", "args.amount > 30s"), `policy approval_when("order", args.amount > 30s): column 15: no argument is a duration (write a number)`},
		{approval.When("order", "true"), `policy approval_when("order", true): column 1: it looks at no argument (write something such as args.amount > 100)`},
		{approval.Func("", holds), `policy approval_func(""): it has no name (the approver is shown it)`},
		{approval.Func("f", nil), `policy approval_func("f"): its function is nil`},
		{approval.Never("submit_*", "__store_memory__"), ""},
		{approval.Never("sumbit_po"), `policy never("sumbit_po"): no tool fits "sumbit_po" (did you mean submit_po?)`},
	} {
		err := c.rule.(pawl.Checker).Check(a)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.rule, diff)
		}
	}
	if err := approval.For("x").(pawl.Checker).Check(pawl.Agent{}); err == nil || !strings.HasSuffix(err.Error(), `no tool fits "x": the agent has none`) {
		t.Errorf("an agent without tools: %v", err)
	}
	broken := agent("order")
	broken.Policies = []pawl.Policy{approval.For("oder"), approval.When("order", "args.")}
	if _, err := pawl.NewMachine(broken); err == nil || strings.Count(err.Error(), "policy approval") != 2 {
		t.Errorf("the machine tells %v", err)
	}
}

// A rule that was refused and is asked all the same lets nothing pass.
func TestBrokenAsks(t *testing.T) {
	s, act := batch(t, agent("order"), `order {"amount":1}`)
	for _, p := range []pawl.Policy{approval.When("order", "amount >"), approval.Func("f", nil)} {
		if got := settle(t, s, act, p); !strings.HasPrefix(got[0], "c_1 ask ") {
			t.Errorf("%v: %q", p, got)
		}
	}
}
