package review_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl/fix/review"
)

const difference = `diff --git a/a.go b/a.go
index 1111111111111111111111111111111111111111..2222222222222222222222222222222222222222 100644
--- a/a.go
+++ b/a.go
@@ -1,7 +1,5 @@
 package a
 
-// F was long.
-func F() {}
+func F() {} // now short
 
 var x int
-var y int
@@ -20,3 +18,5 @@ func G() {
--- a comment of SQL
+++ another
+token := sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
 one
+
 two
\ No newline at end of file
diff --git "a/caf\303\251 x.txt" "b/caf\303\251 x.txt"
new file mode 100644
index 0000000000000000000000000000000000000000..3333333333333333333333333333333333333333
--- /dev/null
+++ "b/caf\303\251 x.txt"
@@ -0,0 +1 @@
+hello
diff --git a/logo.png b/logo.png
index 4444444444444444444444444444444444444444..5555555555555555555555555555555555555555 100644
Binary files a/logo.png and b/logo.png differ
diff --git a/old name.go b/new name.go
similarity index 100%
rename from old name.go
rename to new name.go
diff --git a/gone.go b/gone.go
deleted file mode 100644
index 6666666666666666666666666666666666666666..0000000000000000000000000000000000000000
--- a/gone.go
+++ /dev/null
@@ -1 +0,0 @@
-package gone
diff --git a/lib b/lib
index 7777777777777777777777777777777777777777..8888888888888888888888888888888888888888 160000
--- a/lib
+++ b/lib
@@ -1 +1 @@
-Subproject commit 7777777777777777777777777777777777777777
+Subproject commit 8888888888888888888888888888888888888888
`

func TestParse(t *testing.T) {
	files, err := review.Parse(difference)
	must(t, err)
	type seen struct {
		Path, Skip string
		Ranges     []review.Range
	}
	var got []seen
	for _, f := range files {
		got = append(got, seen{f.Path, f.Skip, f.Lines})
	}
	want := []seen{
		{"a.go", "", []review.Range{{2, 3}, {5, 5}, {17, 19}, {21, 21}}},
		{"café x.txt", "", []review.Range{{1, 1}}},
		{"logo.png", "binary", nil},
		{"new name.go", "", nil},
		{"gone.go", "removed", nil},
		{"lib", "a submodule", []review.Range{{1, 1}}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	view := files[0].View()
	for _, line := range []string{"    3 + func F() {} // now short\n", "      - var y int\n", "   18 + ++ another\n", "   19 + token := [redacted]\n", "   22   two\n"} {
		if !strings.Contains(view, line) {
			t.Errorf("the view lacks %q:\n%s", line, view)
		}
	}
}

func TestParseBad(t *testing.T) {
	for _, text := range []string{
		"hello\n",
		"diff --git a/a b/a\n@@ -1 +1\n",
		"diff --git a/a b/a\n@@ -1,x +1 @@\n",
		"diff --git a/a b/a\n@@ -1 +1,2 @@\n-x\n+y\n",
		"diff --git a/a b/a\n@@ -1 +1 @@\n?x\n",
	} {
		if files, err := review.Parse(text); err == nil {
			t.Errorf("Parse(%q) = %v, want an error", text, files)
		}
	}
	if files, err := review.Parse(""); err != nil || files != nil {
		t.Errorf("Parse of nothing: %v, %v", files, err)
	}
}
