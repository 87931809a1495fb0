package house

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// mostModules is the most modules that an importer of the library sees, itself
// included (go list -m all). It is the sum of what go.mod names.
const mostModules = 17

// mostCompiled is the most packages that go run ./cmd/pawl compiles on Linux, those of the standard
// library included.
const mostCompiled = 492

var (
	used     = regexp.MustCompile(`(?m)^\t\./?(.*)$`)
	required = regexp.MustCompile(`(?m)^(?:require )?\t?([a-z0-9.-]+\.[a-z]+/\S+) v`)
	replaced = regexp.MustCompile(`(?m)^(?:replace )?\t?` + module + `\S* => `)
)

// TestModules holds that the workspace has every module but those with tools for us alone, and that the library
// stays small for its importers.
func TestModules(t *testing.T) {
	tr := repository(t)
	var dirs, want []string
	for _, m := range used.FindAllStringSubmatch(tr.read(t, "go.work"), -1) {
		dirs = append(dirs, path.Clean(m[1]))
	}
	for _, name := range tr.files {
		if dir := path.Dir(name); path.Base(name) == "go.mod" && dir != "tools" && dir != "oracle" && dir != "examples/broken" {
			want = append(want, dir)
		}
	}
	slices.Sort(want)
	if !slices.Equal(dirs, want) {
		t.Errorf("go.work uses %q; the modules are %q", dirs, want)
	}
	if n := len(required.FindAllString(tr.read(t, "go.mod"), -1)) + 2; n > mostModules {
		t.Errorf("an importer of the library sees %d modules; the most is %d", n, mostModules)
	}
}

// TestCompiled holds that who runs the command from a clone does not wait for what only some
// builds have, such as the SDKs of the clouds.
func TestCompiled(t *testing.T) {
	list := exec.Command("go", "list", "-deps", "./cmd/pawl")
	list.Dir, list.Env = repository(t).root, append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	out, err := list.Output()
	if n := strings.Count(string(out), "\n"); err != nil || n > mostCompiled {
		t.Errorf("the command has %d packages (%v); the most is %d", n, err, mostCompiled)
	}
}

// TestRelease makes a release in a copy of the repository: no module of it
// replaces another, and each has its tag.
func TestRelease(t *testing.T) {
	tr := repository(t)
	copied := filepath.Join(t.TempDir(), "pawl")
	if out, err := exec.Command("git", "clone", "--quiet", tr.root, copied).CombinedOutput(); err != nil {
		if os.Getenv("CI") == "" {
			t.Skipf("git clone: %v: %s", err, out)
		}
		t.Fatalf("git clone: %v: %s", err, out)
	}
	do := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = copied
		cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%q: %v", args, err)
		}
		return string(out)
	}
	tags := strings.Fields(do(filepath.Join(copied, ".ci", "release"), "v0.1.0"))
	if got := strings.Fields(do("git", "tag")); len(tags) < 2 || !slices.Equal(got, slices.Sorted(slices.Values(tags))) {
		t.Errorf("the release says it has the tags %q; git has %q", tags, got)
	}
	for _, tag := range tags {
		mod := do("git", "show", tag+":"+strings.TrimSuffix(tag, "v0.1.0")+"go.mod")
		if line := replaced.FindString(mod); line != "" {
			t.Errorf("%s: %s", tag, line)
		}
		if strings.Contains(mod, module+" v0.0.0") || strings.Contains(mod, " v0.0.0\n") {
			t.Errorf("%s requires a module of the working tree:\n%s", tag, mod)
		}
	}
	if os.Getenv("PAWL_PROOF") != "" {
		installed(t, do, tags)
	}
}

// installed publishes the tags in a directory, and has another module require the command of
// them, and install it: every package that it imports is in a module that its go.mod names. It is
// for a proof, since it unpacks every module and compiles all of it.
func installed(t *testing.T, do func(...string) string, tags []string) {
	t.Helper()
	proxy, others := t.TempDir(), strings.TrimSpace(do("go", "env", "GOMODCACHE"))
	const version = "v0.1.0"
	for _, tag := range tags {
		dir := strings.TrimSuffix(strings.TrimSuffix(tag, version), "/")
		name := path.Join(module, dir)
		at := filepath.Join(proxy, filepath.FromSlash(name), "@v", version)
		tree, archive := tag, []string{"git", "archive", "--format=zip", "--prefix=" + name + "@" + version + "/", "-o", at + ".zip"}
		if dir != "" {
			tree += ":" + dir
		}
		archive = append(archive, tree, ".")
		for name := range strings.FieldsSeq(do("git", "ls-tree", "-r", "--name-only", tree)) {
			if inner := path.Dir(name); path.Base(name) == "go.mod" && inner != "." { // a module below is not part of this one
				archive = append(archive, ":!"+inner)
			}
		}
		must(t, os.MkdirAll(filepath.Dir(at), 0o755))
		do(archive...)
		must(t, os.WriteFile(filepath.Join(filepath.Dir(at), "list"), []byte(version+"\n"), 0o644))
		for ending, text := range map[string]string{".mod": do("git", "show", tag+":"+path.Join(dir, "go.mod")), ".info": `{"Version":"` + version + `","Time":"2026-01-01T00:00:00Z"}`} {
			must(t, os.WriteFile(at+ending, []byte(text), 0o644))
		}
	}
	user := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command("go", args...)
		cmd.Dir = user
		cmd.Env = append(os.Environ(), "GOWORK=off", "GOPROXY=file://"+proxy+",file://"+others+"/cache/download,"+strings.TrimSpace(do("go", "env", "GOPROXY")), "GOSUMDB=off",
			"GOMODCACHE="+filepath.Join(user, "modules"), "GOFLAGS=-mod=mod -modcacherw", "GOBIN="+filepath.Join(user, "bin"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go %q: %v\n%s", args, err, out)
		}
	}
	run("install", module+"/cmd/pawl@"+version)
	out, err := exec.Command(filepath.Join(user, "bin", "pawl"), "version").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "pawl "+version+", ") {
		t.Errorf("the installed command says %q, %v", out, err)
	}
	run("mod", "init", "example.org/user")
	run("get", module+"/cmd/pawl@"+version)
	run("list", "-deps", module+"/cmd/pawl")
}

// TestBrokenStandsAlone holds that the project which the README repairs is none of
// the workspace's modules, and builds all the same.
func TestBrokenStandsAlone(t *testing.T) {
	list := exec.Command("go", "list", "-m")
	list.Dir = filepath.Join(repository(t).root, "examples", "broken")
	out, err := list.CombinedOutput()
	if got := strings.TrimSpace(string(out)); err != nil || got != "example.com/ledger" {
		t.Errorf("go list -m in examples/broken: %v: %s", err, got)
	}
}
