package testfix_test

import (
	"strings"
	"testing"

	"github.com/pawl-run/pawl"
)

// What does not build is mended where the compiler's message all but says how.
func TestRepairBuild(t *testing.T) {
	if testing.Short() {
		t.Skip("every repair runs go test several times")
	}
	const test = `package m

import "testing"

func TestLast(t *testing.T) {
	if got, ok := Last([]string{"a", "b"}); got != "b" || !ok {
		t.Errorf("Last = %q, %v, want b", got, ok)
	}
	if _, ok := Last(nil); ok {
		t.Error("Last of nothing")
	}
}
`
	for name, c := range map[string]struct{ code, want string }{
		"misspelt":        {"package m\n\nfunc Last(list []string) (string, bool) {\n\tif len(lst) == 0 {\n\t\treturn \"\", false\n\t}\n\treturn list[len(list)-1], true\n}\n", "+\tif len(list) == 0 {"},
		"method":          {"package m\n\ntype names []string\n\nfunc (n names) last() string { return n[len(n)-1] }\n\nfunc Last(list []string) (string, bool) {\n\tif len(list) == 0 {\n\t\treturn \"\", false\n\t}\n\treturn names(list).lsat(), true\n}\n", "+\treturn names(list).last(), true"},
		"member":          {"package m\n\nimport \"strings\"\n\nfunc Last(list []string) (string, bool) {\n\tif len(list) == 0 {\n\t\treturn \"\", false\n\t}\n\treturn strings.TrimSpce(list[len(list)-1]), true\n}\n", "+\treturn strings.TrimSpace(list[len(list)-1]), true"},
		"missing import":  {"package m\n\nfunc Last(list []string) (string, bool) {\n\tif len(list) == 0 {\n\t\treturn \"\", false\n\t}\n\treturn strings.Clone(list[len(list)-1]), true\n}\n", "+import \"strings\""},
		"unused import":   {"package m\n\nimport (\n\t\"fmt\"\n\t\"strings\"\n)\n\nfunc Last(list []string) (string, bool) {\n\tif len(list) == 0 {\n\t\treturn \"\", false\n\t}\n\treturn strings.Clone(list[len(list)-1]), true\n}\n", "-\t\"fmt\""},
		"unused variable": {"package m\n\nfunc Last(list []string) (string, bool) {\n\tlast := \"\"\n\tfor _, s := range list {\n\t\tlast := s\n\t}\n\treturn last, len(list) > 0\n}\n", "+\t\tlast = s"},
		"missing return":  {"package m\n\nfunc Last(list []string) (string, bool) {\n\tfor i := len(list) - 1; i >= 0; i-- {\n\t\treturn list[i], true\n\t}\n}\n", "+\treturn \"\", false"},
		"type":            {"package m\n\nfunc Last(list []string) (string, bool) {\n\tvar n int64 = len(list)\n\tif n == 0 {\n\t\treturn \"\", false\n\t}\n\treturn list[n-1], true\n}\n", "+\tvar n int64 = int64(len(list))"},
		"results":         {"package m\n\nfunc Last(list []string) (string, bool) {\n\tif len(list) == 0 {\n\t\treturn \"\", false\n\t}\n\treturn list[len(list)-1]\n}\n", "+\treturn list[len(list)-1], true"},
		"syntax":          {"package m\n\nfunc Last(list []string) (string, bool) {\n\tif len(list) == 0\n\t\treturn \"\", false\n\t}\n\treturn list[len(list)-1], true\n}\n", "+\tif len(list) == 0 {"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := module(t, map[string]string{"m.go": c.code, "m_test.go": test})
			result := drive(t, f)
			if result.Status != pawl.Success {
				t.Fatalf("status %v, want success: %s", result.Status, result.Verdict.Detail)
			}
			diff, err := f.Outcome(t.Context(), result.Status)
			if err != nil || !strings.Contains(diff.String(), c.want+"\n") {
				t.Errorf("%v; the diff lacks %q:\n%s", err, c.want, diff)
			}
		})
	}
}
