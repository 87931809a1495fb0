package workspace

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestPatch(t *testing.T) {
	tree := project(t, files{
		"a.txt":   "1\n2\n3\n4\n5\n6\n7\n8\n9\n",
		"b c.txt": "x",
		"gone":    "bye\n",
		"mode.sh": "same\n",
		"empty":   "",
		"bin":     "a\x00",
	})
	edit(t, tree, "a.txt", "1\n2\n3\n4\nfive\n6\n7\n8\n9\nten\n")
	edit(t, tree, "b c.txt", "x\n")
	edit(t, tree, "mode.sh", "+x same\n")
	edit(t, tree, "bin", "b\x00")
	edit(t, tree, "new/void", "")
	edit(t, tree, "new/last", "+x no end")
	edit(t, tree, "qu\"ote\t", "1\n")
	edit(t, tree, "gone")
	edit(t, tree, "empty")
	equal(t, `diff --git a/a.txt b/a.txt
--- a/a.txt
+++ b/a.txt
@@ -2,8 +2,9 @@
 2
 3
 4
-5
+five
 6
 7
 8
 9
+ten
diff --git a/b c.txt b/b c.txt
--- a/b c.txt	
+++ b/b c.txt	
@@ -1 +1 @@
-x
\ No newline at end of file
+x
diff --git a/bin b/bin
Binary files a/bin and b/bin differ
diff --git a/empty b/empty
deleted file mode 100644
diff --git a/gone b/gone
deleted file mode 100644
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
-bye
diff --git a/mode.sh b/mode.sh
old mode 100644
new mode 100755
diff --git a/new/last b/new/last
new file mode 100755
--- /dev/null
+++ b/new/last
@@ -0,0 +1 @@
+no end
\ No newline at end of file
diff --git a/new/void b/new/void
new file mode 100644
diff --git "a/qu\"ote\t" "b/qu\"ote\t"
new file mode 100644
--- /dev/null
+++ "b/qu\"ote\t"
@@ -0,0 +1 @@
+1
`, difference(t, tree).String())
}

// randomText has few different lines, so that texts share some.
func randomText(rng *rand.Rand) string {
	var b strings.Builder
	for range rng.IntN(20) {
		b.WriteString([]string{"a", "b", "", "é", "\xff", "-- x", "+++ y", "\\ z", "@@ -1 +1 @@", "cr\r", " "}[rng.IntN(11)])
		b.WriteByte('\n')
	}
	text := b.String()
	if rng.IntN(3) == 0 {
		text = strings.TrimSuffix(text, "\n")
	}
	return text
}

func randomContent(rng *rand.Rand) string {
	if rng.IntN(8) == 0 {
		return "+x " + randomText(rng)
	}
	return randomText(rng)
}

var randomNames = []string{"f0", "f 1", "d/f2", "d/e/f3", "d/e/f4", "ü/f5", "q\"6", "d/tab\t7", "g"}

func randomEdits(t *testing.T, rng *rand.Rand, tree *Tree) {
	for range 1 + rng.IntN(6) {
		name := randomNames[rng.IntN(len(randomNames))]
		switch data, err := os.ReadFile(filepath.Join(tree.Dir(), name)); {
		case rng.IntN(4) == 0 && err == nil:
			edit(t, tree, name)
		case err == nil && rng.IntN(2) == 0: // an edit within
			lines := strings.SplitAfter(string(data), "\n")
			lines[rng.IntN(len(lines))] = randomText(rng)
			edit(t, tree, name, strings.Join(lines, ""))
		default:
			edit(t, tree, name, randomContent(rng))
		}
	}
}

// Whatever is edited, applying the difference makes the trees equal, and so does git apply with
// its text, and patch where it can.
func TestRandomEdits(t *testing.T) {
	t.Parallel()
	_, noGit := exec.LookPath("git")
	if noGit != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("git is not here, and CI must have it")
		}
		t.Log("git is not installed: the text of the differences is not tried")
	}
	began := time.Now()
	rounds := 0
	most, enough := uint64(200), 2*time.Second
	if os.Getenv("PAWL_PROOF") != "" {
		most, enough = 10_000, 3*time.Minute
	}
	for seed := uint64(0); seed < most && time.Since(began) < enough; seed++ {
		rng := rand.New(rand.NewPCG(seed, 0))
		start := files{}
		for _, name := range randomNames {
			if rng.IntN(3) > 0 {
				start[name] = randomContent(rng)
			}
		}
		tree := project(t, start)
		randomEdits(t, rng, tree)
		want := read(t, tree.Dir())
		d := difference(t, tree)
		if again := difference(t, tree); d.String() != again.String() {
			t.Fatalf("seed %d: two differences of one state:\n%s\n%s", seed, d, again)
		}
		if noGit == nil && !d.Empty() {
			byHand := t.TempDir()
			start.write(t, byHand)
			cmd := exec.Command("git", "apply", "-")
			cmd.Dir = byHand
			cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(byHand))
			cmd.Stdin = strings.NewReader(d.String())
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("seed %d: git apply: %v\n%s\n%s", seed, err, out, d)
			}
			if got := read(t, byHand); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("seed %d: git apply makes something else of\n%s", seed, d)
				equal(t, want, got)
			}
		}
		must(t, tree.Apply(d))
		equal(t, want, read(t, tree.Source()))
		if t.Failed() {
			t.Fatalf("seed %d\n%s", seed, d)
		}
		rounds++
	}
	t.Log(rounds, "rounds")
}
