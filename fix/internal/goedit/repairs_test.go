package goedit

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// repairs are files with a fault each, what its repair makes of a part of it, and the place by
// which the repair must be proposed.
var repairs = []struct {
	name, src, old, right string
	message, test         string
	by                    int
}{
	{name: "how a text shows a value", old: `code %d`, right: `code %x`, by: 10, message: "m_test.go:7: got \"code 31\", want \"code 1f\"",
		src: "import \"fmt\"\n\nfunc Do(n, m int) string {\n\treturn fmt.Sprintf(\"code %d\", n+m)\n}\n"},
	{name: "a condition too many", old: "\tif k < m {\n\t\tk = m\n\t}\n", right: "\tk = m\n", by: 40,
		src: "func Do(n, m int) int {\n\tk := n\n\tif k < m {\n\t\tk = m\n\t}\n\treturn k\n}\n"},
	{name: "a case too many", old: "\tif k < m {\n\t\tk *= m\n\t}\n", right: "", by: 40,
		src: "func Do(n, m int) int {\n\tk := n\n\tif k < m {\n\t\tk *= m\n\t}\n\treturn k\n}\n"},
	{name: "a field that says no", old: "\t\tcount(i)", right: "\t\tif !i.void {\n\t\t\tcount(i)\n\t\t}", by: 40,
		src: "type item struct{ late, void bool }\n\nvar sum int\n\nfunc count(i item) { sum++ }\n\nfunc Do(n, m int) int {\n\tfor _, i := range []item{{true, false}, {false, true}} {\n\t\tcount(i)\n\t}\n\treturn sum\n}\n"},
	{name: "one more text", old: `s != ""`, right: `s != "" && s != "none"`, by: 60,
		src: "func empty() string { return \"none\" }\n\nfunc is(s string) bool { return s != \"\" }\n\nfunc Do(n, m int) bool { return is(empty()) }\n"},
	{name: "a field that a message names", old: "\tk := n\n", right: "\tk := n\n\tb.total = k\n", by: 60, message: "m_test.go:7: total of the box is 0",
		src: "type box struct{ first, total int }\n\nfunc (b *box) fill(n int) int {\n\tk := n\n\treturn k + b.first\n}\n\nfunc Do(n, m int) int {\n\tb := &box{}\n\treturn b.fill(n) + b.total\n}\n"},
	{name: "the other end of a range", old: "k < end", right: "k >= 0 && k < end", by: 20,
		src: "const end = 3\n\nfunc valid(k int) bool { return k < end }\n\nfunc Do(n, m int) bool { return valid(n) }\n"},
	{name: "a number that has passed another", old: "n == m", right: "n >= m", by: 5,
		src: "func Do(n, m int) bool {\n\treturn n == m\n}\n"},
	{name: "a parameter for a literal", old: "n * 3", right: "n * rate", by: 10,
		src: "func Do(n, rate int) int {\n\treturn n * 3\n}\n"},
	{name: "a constant for a literal", old: "make([]int, 4)", right: "make([]int, size)", by: 100,
		src: "const size = 8\n\nfunc Do(n, m int) int {\n\tlist := make([]int, 4)\n\tlist[0] = n\n\treturn len(list) + size - m\n}\n"},
	{name: "a text's variable for a literal", old: `strings.Split(s, ",")`, right: "strings.Split(s, sep)", by: 25,
		src: "import \"strings\"\n\nfunc cut(s, sep string) int {\n\tparts := strings.Split(s, \",\")\n\treturn len(parts)\n}\n\nfunc Do(n, m int) int { return cut(\"a\", \"b\") }\n"},
	{name: "an operand too many", old: "n + m + 7", right: "n + m", by: 30,
		src: "func Do(n, m int) int {\n\treturn n + m + 7\n}\n"},
	{name: "an operand too few", old: "total := n", right: "total := n + fee", by: 20,
		src: "func Do(n, fee int) int {\n\ttotal := n\n\treturn total\n}\n"},
	{name: "a text's operand too few", old: "return name", right: "return prefix + name", by: 15,
		src: "func join(prefix, name string) string {\n\treturn name\n}\n\nfunc Do(n, m int) string { return join(\"a\", \"b\") }\n"},
	{name: "another text", old: `strings.Join(list, ",")`, right: `strings.Join(list, ", ")`, by: 25,
		src: "import \"strings\"\n\nfunc Do(n, m int) string {\n\tlist := make([]string, n)\n\treturn strings.Join(list, \",\")\n}\n"},
	{name: "a text of the package", old: `s == "off"`, right: `s == "on"`, by: 75,
		src: "func state(on bool) string {\n\tif on {\n\t\treturn \"on\"\n\t}\n\treturn \"off\"\n}\n\nfunc is(s string) bool {\n\treturn s == \"off\"\n}\n\nfunc Do(n, m int) bool { return is(state(n > m)) }\n"},
	{name: "another character", old: "r == ','", right: "r == ';'", by: 20,
		src: "func Do(r, n rune) bool {\n\treturn r == ','\n}\n"},
	{name: "a call found elsewhere", old: "key = name", right: `key = strings.TrimSuffix(name, "/")`, by: 25,
		src: "import \"strings\"\n\nfunc put(name string) string {\n\tvar key string\n\tkey = name\n\treturn key\n}\n\nfunc get(name string) string {\n\treturn strings.TrimSuffix(name, \"/\")\n}\n\nfunc Do(n, m int) bool { return get(\"a/\") == put(\"a/\") }\n"},
	{name: "a question found elsewhere", old: "a == b", right: "strings.EqualFold(a, b)", by: 30,
		src: "import \"strings\"\n\nfunc same(a, b string) bool {\n\treturn a == b\n}\n\nfunc like(a, b string) bool { return strings.EqualFold(a, b) }\n\nfunc Do(n, m int) bool { return same(\"a\", \"A\") && like(\"a\", \"b\") }\n"},
	{name: "a wrapped error", old: "err == ErrNone", right: "errors.Is(err, ErrNone)", by: 15,
		src: "import (\n\t\"errors\"\n\t\"fmt\"\n)\n\nvar ErrNone = errors.New(\"none\")\n\nfunc Do(n, m int) bool {\n\terr := fmt.Errorf(\"n: %w\", ErrNone)\n\treturn err == ErrNone\n}\n"},
	{name: "a division of whole numbers", old: "float64(n / m)", right: "float64(n) / float64(m)", by: 15,
		src: "func Do(n, m int) float64 {\n\treturn float64(n / m)\n}\n"},
	{name: "bytes for characters", old: "return s[:n]", right: "return string([]rune(s)[:n])", by: 40,
		src: "func cut(s string, n int) string {\n\tif n > len(s) {\n\t\treturn s\n\t}\n\treturn s[:n]\n}\n\nfunc Do(n, m int) string { return cut(\"ä\", n) }\n"},
	{name: "unsigned numbers", old: "a-b < 0", right: "int(a)-int(b) < 0", by: 40,
		src: "func less(a, b uint) bool {\n\treturn a-b < 0\n}\n\nfunc Do(n, m int) bool { return less(uint(n), uint(m)) }\n"},
	{name: "both operators", old: "a && b && c", right: "a || b || c", by: 40,
		src: "func any(a, b, c bool) bool {\n\treturn a && b && c\n}\n\nfunc Do(n, m int) bool { return any(n > 1, m > 1, n > m) }\n"},
	{name: "true and false", old: "\t\treturn false\n\t}\n\treturn true", right: "\t\treturn true\n\t}\n\treturn false", by: 25,
		src: "func Do(n, m int) bool {\n\tif n*n > m {\n\t\treturn false\n\t}\n\treturn true\n}\n"},
	{name: "the order of arguments", old: "sub(m, n)", right: "sub(n, m)", by: 10,
		src: "func sub(a, b int) int {\n\treturn a - 2*b\n}\n\nfunc Do(n, m int) int {\n\treturn sub(m, n)\n}\n"},
	{name: "an early return", old: "\tk := n\n", right: "\tif n < 0 {\n\t\treturn 0\n\t}\n\tk := n\n", by: 80,
		src: "func Do(n, m int) int {\n\tk := n\n\tfor i := 0; i < m; i++ {\n\t\tk += i\n\t}\n\tif k > m {\n\t\treturn 0\n\t}\n\treturn k\n}\n"},
	{name: "a map that is not made", old: "var seen map[int]bool", right: "seen := make(map[int]bool)", by: 10, message: "panic: assignment to entry in nil map",
		src: "func Do(n, m int) int {\n\tvar seen map[int]bool\n\tseen[n] = true\n\treturn len(seen)\n}\n"},
	{name: "a field's map that is not made", old: "&box{}", right: "&box{seen: make(map[int]bool)}", by: 15, message: "panic: assignment to entry in nil map",
		src: "type box struct{ seen map[int]bool }\n\nfunc newBox() *box {\n\treturn &box{}\n}\n\nfunc Do(n, m int) int {\n\tb := newBox()\n\tb.seen[n] = true\n\treturn len(b.seen)\n}\n"},
	{name: "a slice that is not made", old: "var out []int", right: "out := make([]int, len(list))", by: 20, message: "panic: runtime error: index out of range [0] with length 0",
		src: "func Do(list ...int) []int {\n\tvar out []int\n\tfor i, v := range list {\n\t\tout[i] = v + 1\n\t}\n\treturn out\n}\n"},
	{name: "an error that is hidden", old: "n, err := strconv.Atoi", right: "n, err = strconv.Atoi", by: 15,
		src: "import \"strconv\"\n\nfunc read(s string) (n int, err error) {\n\tif s != \"\" {\n\t\tn, err := strconv.Atoi(s)\n\t\t_, _ = n, err\n\t}\n\treturn n, err\n}\n\nfunc Do(n, m int) int {\n\tk, _ := read(\"1\")\n\treturn k\n}\n"},
	{name: "a lock that is kept", old: "c.mu.Lock()\n", right: "c.mu.Lock()\n\tdefer c.mu.Unlock()\n", by: 10, message: "fatal error: all goroutines are asleep - deadlock!",
		src: "import \"sync\"\n\ntype counter struct {\n\tmu sync.Mutex\n\tn  int\n}\n\nfunc (c *counter) add() int {\n\tc.mu.Lock()\n\tc.n++\n\treturn c.n\n}\n\nfunc Do(n, m int) int {\n\tc := &counter{}\n\treturn c.add() + c.add()\n}\n"},
	{name: "a lock that one return keeps", old: "\t\treturn 0\n", right: "\t\tc.mu.Unlock()\n\t\treturn 0\n", by: 25, message: "fatal error: all goroutines are asleep - deadlock!",
		src: "import \"sync\"\n\ntype counter struct {\n\tmu sync.Mutex\n\tn  int\n}\n\nfunc (c *counter) add(k int) int {\n\tc.mu.Lock()\n\tif k < 1 {\n\t\treturn 0\n\t}\n\tc.n += k\n\tc.mu.Unlock()\n\treturn c.n\n}\n\nfunc Do(n, m int) int {\n\tc := &counter{}\n\treturn c.add(0) + c.add(2)\n}\n"},
	{name: "the address of a loop's variable", old: "for _, v := range list {\n\t\tout = append(out, &v)", right: "for i := range list {\n\t\tout = append(out, &list[i])", by: 10,
		src: "func Do(list ...int) []*int {\n\tvar out []*int\n\tfor _, v := range list {\n\t\tout = append(out, &v)\n\t}\n\treturn out\n}\n"},
	{name: "one more of a set", old: "k != red", right: "k != red && k != blue", by: 25,
		src: "type kind int\n\nconst (\n\tred kind = iota\n\tgreen\n\tblue\n)\n\nfunc warm(k kind) bool {\n\tif k != red {\n\t\treturn false\n\t}\n\treturn true\n}\n\nfunc Do(n, m int) bool { return warm(green) == warm(blue) }\n"},
	{name: "one more case of a set", old: "case red:", right: "case red, green:", by: 25,
		src: "type kind int\n\nconst (\n\tred kind = iota\n\tgreen\n\tblue\n)\n\nfunc warm(k kind) bool {\n\tswitch k {\n\tcase red:\n\t\treturn true\n\t}\n\treturn false\n}\n\nfunc Do(n, m int) bool { return warm(green) == warm(blue) }\n"},
	{name: "a character of the package in a case", old: "case ':':", right: "case ':', ' ':", by: 40,
		src: "func plain(c byte) bool {\n\tswitch c {\n\tcase ':':\n\t\treturn false\n\t}\n\treturn true\n}\n\nfunc blank(c byte) bool { return c == ' ' }\n\nfunc Do(n, m int) bool { return plain(' ') && blank(' ') }\n"},
	{name: "a question that is asked once", old: "if n > 9 {", right: "for n > 9 {", by: 35,
		src: "func Do(n, m int) int {\n\tif n > 9 {\n\t\tn /= 2\n\t}\n\treturn n\n}\n"},
	{name: "the end of what a loop goes over", old: "i <= n", right: "i < len(list)", by: 25,
		src: "func Do(n, m int) []int {\n\tlist := make([]int, n+m)\n\tfor i := 2; i <= n; i++ {\n\t\tlist[i] = m\n\t}\n\treturn list\n}\n"},
	{name: "what another function returns", old: "return float64(0)", right: "return math.NaN()", by: 40,
		src: "import \"math\"\n\nfunc half(n int) float64 {\n\tif n < 0 {\n\t\treturn math.NaN()\n\t}\n\treturn float64(n) / 2\n}\n\nfunc Do(n, m int) float64 {\n\tif n > m {\n\t\treturn float64(0)\n\t}\n\treturn half(n)\n}\n"},
	{name: "a question that the package asks elsewhere", old: "if n < 0 {", right: "if math.IsNaN(n) || n < 0 {", by: 65,
		src: "import \"math\"\n\nfunc odd(f float64) bool { return math.IsNaN(f) }\n\nfunc root(n float64) float64 {\n\tif n < 0 {\n\t\treturn 0\n\t}\n\treturn math.Sqrt(n)\n}\n\nfunc Do(n, m int) bool { return odd(root(1)) }\n"},
	{name: "a method for a field", old: "\treturn a.sum\n", right: "\treturn a.Sum()\n", by: 20,
		src: "type account struct{ sum, fee int }\n\nfunc (a account) Sum() int { return a.sum - a.fee }\n\nfunc total(a account) int {\n\treturn a.sum\n}\n\nfunc Do(n, m int) int { return total(account{n, m}) }\n"},
	{name: "a method that compares", old: "a == b", right: "a.Equal(b)", by: 15,
		src: "import \"time\"\n\nfunc same(a, b time.Time) bool {\n\treturn a == b\n}\n\nfunc Do(n, m int) bool { return same(time.Unix(int64(n), 0), time.Unix(int64(m), 0)) }\n"},
	{name: "a variable without a value", old: "var out any\n", right: "out := v.Interface()\n", by: 20,
		src: "import \"reflect\"\n\nfunc last(v reflect.Value, list ...any) any {\n\tvar out any\n\tfor _, x := range list {\n\t\tout = x\n\t}\n\treturn out\n}\n\nfunc Do(n, m int) any { return last(reflect.ValueOf(n)) }\n"},
	{name: "an error thrown away", old: "\tn, _ := strconv.Atoi(s)\n", right: "\tn, err := strconv.Atoi(s)\n\tif err != nil {\n\t\treturn 0, err\n\t}\n", by: 15,
		src: "import \"strconv\"\n\nfunc read(s string) (int, error) {\n\tn, _ := strconv.Atoi(s)\n\treturn n + 1, nil\n}\n\nfunc Do(n, m int) error {\n\t_, err := read(\"x\")\n\treturn err\n}\n"},
	{name: "a function that gives something else", old: "strconv.ParseInt(s, 10, 64)", right: "strconv.ParseUint(s, 10, 64)", by: 15,
		src: "import \"strconv\"\n\nfunc read(s string) uint64 {\n\tn, err := strconv.ParseInt(s, 10, 64)\n\tif err != nil {\n\t\treturn 0\n\t}\n\treturn uint64(n)\n}\n\nfunc Do(n, m int) uint64 { return read(\"18446744073709551615\") }\n"},
	{name: "a type that the message names", old: "case int, string:", right: "case int, string, time.Month:", by: 5, message: "panic: invalid type: time.Month (10)",
		src: "import \"time\"\n\nvar ten any = time.October\n\nfunc known(v any) bool {\n\tswitch v.(type) {\n\tcase int, string:\n\t\treturn true\n\t}\n\treturn false\n}\n\nfunc Do(n, m int) bool { return known(ten) }\n"},
	{name: "a question about both operands", old: "if low > high {", right: "if math.IsNaN(low) || math.IsNaN(high) || low > high {", by: 50, message: "clip(NaN, 1) = 1, want an error",
		src: "import \"math\"\n\nfunc odd(f float64) bool { return math.IsNaN(f) }\n\nfunc span(low, high float64) float64 {\n\tif low > high {\n\t\treturn 0\n\t}\n\treturn high - low\n}\n\nfunc Do(n, m int) bool { return odd(span(1, 2)) }\n"},
	{name: "a guard of another variable", old: "\treturn 1 / p\n", right: "\tif math.IsNaN(p) || p < 0 || p > 1 {\n\t\treturn 0\n\t}\n\treturn 1 / p\n", by: 110, message: "mean(NaN) = NaN",
		src: "import \"math\"\n\nfunc chance(x float64) float64 {\n\tif math.IsNaN(x) || x < 0 || x > 1 {\n\t\treturn 0\n\t}\n\treturn x\n}\n\nfunc mean(p float64) float64 {\n\treturn 1 / p\n}\n\nfunc Do(n, m int) float64 { return mean(chance(2)) }\n"},
	{name: "what is used nowhere", old: "\tvisit(&sums{})\n", right: "\tvisit(&sums{})\n\tvisit(&counts{})\n", by: 5,
		src: "type sums struct{}\n\nfunc (*sums) do() int { return 1 }\n\ntype counts struct{}\n\nfunc (*counts) do() int { return 2 }\n\nvar total int\n\nfunc visit(v interface{ do() int }) { total += v.do() }\n\nfunc Do(n, m int) int {\n\tvisit(&sums{})\n\treturn total\n}\n"},
	{name: "an element that is used nowhere", old: "{sum}", right: "{sum, count}", by: 10,
		src: "func sum(n int) int { return n + 1 }\n\nfunc count(n int) int { return n * 2 }\n\nfunc Do(n, m int) int {\n\tfor _, f := range []func(int) int{sum} {\n\t\tn = f(n)\n\t}\n\treturn n\n}\n"},
	{name: "a character in two cases", old: "\tcase '@':\n\t\treturn true\n\t}\n\tswitch s[len(s)-1] {\n\tcase ':':\n", right: "\tcase '@', ' ':\n\t\treturn true\n\t}\n\tswitch s[len(s)-1] {\n\tcase ':', ' ':\n", by: 80,
		src: "func quoted(s string) bool {\n\tswitch s[0] {\n\tcase '@':\n\t\treturn true\n\t}\n\tswitch s[len(s)-1] {\n\tcase ':':\n\t\treturn true\n\t}\n\treturn false\n}\n\nfunc blank(c byte) bool { return c == ' ' }\n\nfunc Do(n, m int) bool { return quoted(\"a \") && blank(' ') }\n"},
	{name: "a character in two cases of many", old: "\tcase '+', '-':\n\t\treturn true\n\t}\n\tswitch s[len(s)-1] {\n\tcase ':':\n", right: "\tcase '+', '-', ' ':\n\t\treturn true\n\t}\n\tswitch s[len(s)-1] {\n\tcase ':', ' ':\n", by: 110,
		src: "func quoted(s string) bool {\n\tswitch s[0] {\n\tcase '+', '-':\n\t\treturn true\n\t}\n\tswitch s[len(s)-1] {\n\tcase ':':\n\t\treturn true\n\t}\n\tfor i := range s {\n\t\tswitch s[i] {\n\t\tcase '#':\n\t\t\treturn true\n\t\tcase '!':\n\t\t\treturn true\n\t\t}\n\t}\n\treturn false\n}\n\nfunc blank(c byte) bool { return c == ' ' }\n\nfunc Do(n, m int) bool { return quoted(\"a \") && blank(' ') }\n"},
	{name: "all that is used nowhere", old: "\tvisit(&sums{})\n", right: "\tvisit(&sums{})\n\tvisit(&counts{})\n\tvisit(&means{})\n", by: 5,
		src: "type sums struct{}\n\nfunc (*sums) do() int { return 1 }\n\ntype counts struct{}\n\nfunc (*counts) do() int { return 2 }\n\ntype means struct{}\n\nfunc (*means) do() int { return 3 }\n\nvar total int\n\nfunc visit(v interface{ do() int }) { total += v.do() }\n\nfunc Do(n, m int) int {\n\tvisit(&sums{})\n\treturn total\n}\n"},
	{name: "the last turn of a loop", old: "if sum < m {", right: "if sum < m || i == n-1 {", by: 120,
		src: "func Do(n, m int) int {\n\tsum, count := 0, 0\n\tfor i := 0; i < n; i++ {\n\t\tsum += i\n\t\tif sum < m {\n\t\t\tcount++\n\t\t}\n\t}\n\treturn count\n}\n"},
	{name: "a guard where it panics", old: "\treturn strings.Repeat(s, k)\n", right: "\tif k < 0 {\n\t\treturn s\n\t}\n\treturn strings.Repeat(s, k)\n", by: 20, message: "panic: strings: negative Repeat count\n\nm.go:7",
		src: "import \"strings\"\n\nfunc Do(n, m int) string {\n\ts, k := \"a\", n-m\n\treturn strings.Repeat(s, k)\n}\n"},
	{name: "a call for another field", old: "\tput(':')\n\tshow(p.line)\n", right: "\tput(':')\n\tshow(p.line)\n\tput(':')\n\tshow(p.column)\n", by: 25,
		src: "type place struct{ line, column int }\n\nvar out string\n\nfunc put(c rune) { out += string(c) }\n\nfunc show(n int) { out += string(rune('0' + n)) }\n\nfunc Do(n, m int) string {\n\tp := place{n, m}\n\tput(':')\n\tshow(p.line)\n\treturn out\n}\n"},
	{name: "a function that the test is named after", old: "return s\n", right: "return strings.ToUpper(s)\n", by: 5, test: "Test/upper_case",
		src: "import \"strings\"\n\nvar void = strings.Contains(\"\", \"\")\n\nfunc call(s string) string {\n\treturn s\n}\n\nfunc Do(n, m int) string { return call(\"a\") }\n"},
	{name: "a row that the message names", old: "\t'b': sum,\n", right: "\t'b': sum,\n\t'c': count,\n", by: 10, message: "'%c' was not found",
		src: "type op func(int) int\n\nvar (\n\tsum   op = func(n int) int { return n + 1 }\n\tcount op = func(n int) int { return n * 2 }\n)\n\nvar table = map[byte]op{\n\t'a': sum,\n\t'b': sum,\n}\n\nfunc Do(n, m int) int {\n\treturn table['c'](n)\n}\n"},
	{name: "a field that is not copied", old: "size: b.size}", right: "size: b.size, name: b.name}", by: 5,
		src: "type box struct {\n\tsize int\n\tname string\n}\n\nfunc (b box) copy() box {\n\treturn box{size: b.size}\n}\n\nfunc Do(n, m int) string { return box{n, \"a\"}.copy().name }\n"},
	{name: "a clause for a type of the message", old: "\tcase nil:\n", right: "\tcase code:\n\t\tput(v.String())\n\tcase nil:\n", by: 5, message: "panic: invalid type: m.code (3)",
		src: "type code int\n\nfunc (code) String() string { return \"code\" }\n\nvar out string\n\nfunc put(s string) { out += s }\n\nfunc Do(n, m any) string {\n\tswitch v := n.(type) {\n\tcase nil:\n\t\tput(\"nothing\")\n\tcase bool:\n\t\tput(\"bool\")\n\tdefault:\n\t\tpanic(v)\n\t}\n\treturn out\n}\n"},
}

// Each kind of fault is proposed to be repaired, early.
func TestRepairs(t *testing.T) {
	for _, c := range repairs {
		t.Run(c.name, func(t *testing.T) {
			src := "package m\n\n" + c.src
			if strings.Count(src, c.old) != 1 {
				t.Fatalf("%q occurs %d times", c.old, strings.Count(src, c.old))
			}
			h := Hints{Failures: []Failure{{Package: "m", Test: cmp.Or(c.test, "Test"), Output: c.message}}}
			if _, line, ok := strings.Cut(c.message, "m.go:"); ok {
				n, _ := strconv.Atoi(line)
				h.Failures[0].Locations = []Location{{File: "m.go", Line: n}}
			}
			edits, after := proposals(t, src, h)
			want := strings.Replace(src, c.old, c.right, 1)
			for i, text := range after {
				if text == want {
					if i >= c.by {
						t.Errorf("it is at place %d of %d, want %d at most", i+1, len(edits), c.by)
					}
					t.Logf("place %d of %d: %s", i+1, len(edits), edits[i].Rule)
					return
				}
			}
			t.Errorf("none of %d edits is the repair", len(edits))
		})
	}
}

// Before Go 1.22, a variable of a loop is the same one in all iterations.
func TestSharedLoopVariable(t *testing.T) {
	const src = "package m\n\nfunc Do(list ...int) (out []func() int) {\n\tfor _, v := range list {\n\t\tout = append(out, func() int { return v })\n\t}\n\treturn out\n}\n"
	for version, want := range map[string]bool{"1.21": true, "1.22": false, "1.26.1": false} {
		files := fstest.MapFS{"go.mod": {Data: []byte("module m\n\ngo " + version + "\n")}, "m.go": {Data: []byte(src)}}
		edits, err := Candidates(files, Hints{Failures: []Failure{{Package: "m"}}}, &Options{Importer: library()(t)})
		if err != nil {
			t.Fatal(err)
		}
		got := false
		for _, e := range edits {
			got = got || strings.Contains(e.New, "v := v")
		}
		if got != want {
			t.Errorf("Go %s: v := v is proposed: %v, want %v", version, got, want)
		}
	}
}

// An import comes with the first use of a package, and goes with the last.
func TestImportsFollow(t *testing.T) {
	files := fstest.MapFS{
		"go.mod": {Data: []byte("module m\n\ngo 1.26\n")},
		"m.go":   {Data: []byte("package m\n\nimport (\n\t\"errors\"\n\t\"unicode\"\n)\n\nvar errNone = errors.New(\"none\")\n\nfunc F(s string) (string, error) {\n\tif !unicode.IsUpper(rune(s[0])) {\n\t\treturn s, errNone\n\t}\n\treturn s, nil\n}\n")},
		"n.go":   {Data: []byte("package m\n\nimport \"strings\"\n\nfunc G(s string) string {\n\treturn strings.TrimSpace(s)\n}\n")},
	}
	imp := library()(t)
	edits, err := Candidates(files, Hints{Failures: []Failure{{Package: "m"}}}, &Options{Importer: imp, Limit: 600})
	if err != nil {
		t.Fatal(err)
	}
	checkEdits(t, files, edits)
	c := faulty{files: files}
	came, went := 0, 0
	for i, e := range edits {
		src := files[e.File].Data
		after, err := Apply(src, e)
		if err != nil {
			t.Fatal(err)
		}
		text := string(after)
		uses := strings.Contains(text, "strings.")
		if imports := strings.Contains(text, `"strings"`); imports != uses {
			t.Errorf("%+v: strings is used: %v, imported: %v", e, uses, imports)
		}
		if imports := strings.Contains(text, `"unicode"`); imports != strings.Contains(text, "unicode.") {
			t.Errorf("%+v: unicode is imported: %v", e, imports)
		}
		if len(e.Also) == 0 && i%10 != 0 {
			continue
		}
		if err := wholeCheck(c, e.File, after, imp); err != nil {
			t.Errorf("%+v: %v", e, err)
		}
		switch {
		case len(e.Also) == 0:
		case e.File == "m.go" && uses:
			came++
		default:
			went++
		}
	}
	if came == 0 || went == 0 {
		t.Errorf("%d edits bring an import and %d take one away, want some of both", came, went)
	}
}

// Probes need type parameters, which the version of Go in an old module lacks.
func TestProbesOfOldModules(t *testing.T) {
	for version, want := range map[string]bool{"1.12": true, "1.26": false} {
		files := fstest.MapFS{
			"go.mod":    {Data: []byte("module m\n\ngo " + version + "\n")},
			"m.go":      {Data: []byte("package m\n\nfunc F(n int) int { return n }\n")},
			"m_test.go": {Data: []byte("package m\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) {\n\tif F(3) != 3 {\n\t\tt.Error(3)\n\t}\n}\n")},
		}
		probes, made, err := Probes(files, ".", &Options{Importer: library()(t)})
		if err != nil || len(probes) == 0 || len(made) != 2 {
			t.Fatalf("%d probes in %d files, %v", len(probes), len(made), err)
		}
		for _, p := range probes {
			if p.Line != 6 {
				t.Errorf("a message is no input: %+v", p)
			}
		}
		for name, text := range made {
			if got := strings.HasPrefix(text, "//go:build go1.21\n\n"); got != want {
				t.Errorf("Go %s, %s: it has a constraint: %v, want %v", version, name, got, want)
			}
		}
	}
}

// The values of a fuzz corpus take the place of a test's, and its entries are run as they are.
func TestProbesOfCorpora(t *testing.T) {
	files := mapFS(map[string]string{
		"go.mod":                      "module m\n\ngo 1.26\n",
		"m.go":                        "package m\n\nfunc F(s string, n uint8) bool { return s == \"a\" && n == 3 }\n",
		"m_test.go":                   "package m\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) {\n\tif !F(\"a\", 3) {\n\t\tt.Error(3)\n\t}\n}\n\nfunc FuzzF(f *testing.F) { f.Fuzz(func(t *testing.T, b []byte, n int) { F(string(b), uint8(n)) }) }\n",
		"testdata/fuzz/FuzzF/1a2b":    "go test fuzz v1\n[]byte(\"\\xc3\\xa9\\n\")\nint(-7)\n",
		"testdata/fuzz/FuzzF/3c4d":    "go test fuzz v1\n[]byte(\"plain\")\nint(77)\n",
		"testdata/fuzz/FuzzF/notes":   "no entry\n",
		"other/testdata/fuzz/FuzzG/1": "go test fuzz v1\nstring(\"of another package\")\n",
	})
	probes, _, err := Probes(files, ".", &Options{Importer: library()(t)})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, p := range probes {
		got[p.Test+" "+p.Old+" "+p.New] = true
	}
	for _, want := range []string{
		`TestF "a" "é\n"`, `TestF 3 77`,
		`FuzzF/1a2b the seeds of FuzzF []byte("\xc3\xa9\n"), int(-7)`, `FuzzF/3c4d the seeds of FuzzF []byte("plain"), int(77)`,
	} {
		if !got[want] {
			t.Errorf("no probe %s among %q", want, slices.Sorted(maps.Keys(got)))
		}
	}
	for p := range got {
		if strings.Contains(p, "another") || strings.Contains(p, "notes") || strings.HasSuffix(p, "3 -7") {
			t.Errorf("a probe %s", p)
		}
	}
}
