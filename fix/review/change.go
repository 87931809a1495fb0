package review

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// A Change is the difference between two states of a project.
type Change struct {
	Dir    string // the project
	Prefix string // its place in the repository, empty or with a slash at the end
	What   string // what is compared, in words
	Files  []File

	git  git
	top  git    // the same, at the root of the repository
	temp string // for what is not in the repository
	tree string // the new state
	live bool   // the new state is the working tree
}

// Options are the options of [Open].
type Options struct {
	Stdin   io.Reader // the patch - ; nil: there is none
	Environ []string  // of git; nil: that of this process
}

// Open reads a change of the project in dir. What is
//
//   - empty: the working tree, with files that git does not know yet, against HEAD
//   - A..B: commit B against commit A; an empty one is HEAD
//   - A...B: commit B against the commit where it left A
//   - A: HEAD against commit A
//   - the name of a file, or -: a patch, applied to HEAD in a copy.
//
// It changes nothing in the project or its repository. Close removes what it keeps elsewhere.
func Open(ctx context.Context, dir, what string, o *Options) (*Change, error) {
	if o == nil {
		o = &Options{}
	}
	environ := o.Environ
	if environ == nil {
		environ = os.Environ()
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	c := &Change{Dir: abs, git: newGit(abs, environ)}
	if err := c.open(ctx, what, o.Stdin); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Close removes the copy.
func (c *Change) Close() error {
	if c.temp == "" {
		return nil
	}
	return os.RemoveAll(c.temp)
}

func (c *Change) open(ctx context.Context, what string, stdin io.Reader) error {
	prefix, err := c.git.line(ctx, "rev-parse", "--show-prefix")
	if said := (*gitError)(nil); errors.As(err, &said) && strings.Contains(said.said, "not a git repository") {
		return fmt.Errorf("%s is not in a git repository; name a project that is, or run git init and commit what a review starts from", c.Dir)
	}
	if err != nil {
		return err
	}
	c.Prefix = prefix
	top, err := c.git.line(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	if err := c.shadow(ctx); err != nil {
		return err
	}
	c.top = c.git
	c.top.dir = filepath.FromSlash(top)
	old, err := c.trees(ctx, what, stdin)
	if err != nil {
		return err
	}
	// Whole functions, so that a reader sees what the lines are part of.
	text, err := c.git.out(ctx, nil, "diff", "--full-index", "--no-color", "--no-ext-diff", "--no-textconv", "--find-renames",
		"--src-prefix=a/", "--dst-prefix=b/", "--submodule=short", "--unified=10", "--function-context", "--relative", old, c.tree, "--")
	if err != nil {
		return err
	}
	if c.Files, err = Parse(text); err != nil {
		return err
	}
	return c.read(ctx)
}

// tempName is the beginning of the names of temporary directories.
const tempName = "pawl-review-"

// clearOld removes the temporary directories of reviews that were killed. No review takes a day.
func clearOld(dir string) {
	old, _ := filepath.Glob(filepath.Join(dir, tempName+"*")) // the pattern is correct
	for _, name := range old {
		if info, err := os.Lstat(name); err == nil && info.IsDir() && time.Since(info.ModTime()) > 24*time.Hour {
			_ = os.RemoveAll(name) // it may be another user's
		}
	}
}

// shadow has git store new contents elsewhere, beside a copy of the index.
func (c *Change) shadow(ctx context.Context) (err error) {
	clearOld(os.TempDir())
	if c.temp, err = os.MkdirTemp("", tempName); err != nil {
		return err
	}
	objects, err := c.git.line(ctx, "rev-parse", "--path-format=absolute", "--git-path", "objects")
	if err != nil {
		return err
	}
	index, err := c.git.line(ctx, "rev-parse", "--path-format=absolute", "--git-path", "index")
	if err != nil {
		return err
	}
	mine, own := filepath.Join(c.temp, "index"), filepath.Join(c.temp, "objects")
	if err := os.Mkdir(own, 0o700); err != nil {
		return err
	}
	// With it, git need not read files that have not changed.
	if text, err := os.ReadFile(index); err == nil {
		err = os.WriteFile(mine, text, 0o600) //nolint:gosec // the directory was made above, and the text is git's
		if err != nil {
			return err
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	c.git = c.git.with("GIT_INDEX_FILE="+mine, "GIT_OBJECT_DIRECTORY="+own, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+quoted(objects))
	return nil
}

// quoted is a path in a list of paths of git, which may be quoted as in C.
func quoted(path string) string {
	if strings.ContainsAny(path, "\"\n"+string(filepath.ListSeparator)) {
		return fmt.Sprintf("%q", path)
	}
	return path
}

// trees finds both states, and returns the old one.
func (c *Change) trees(ctx context.Context, what string, stdin io.Reader) (old string, err error) {
	if what == "" {
		c.What, c.live = "the working tree against HEAD", true
		if old, err = c.commit(ctx, "HEAD"); err != nil {
			return "", err
		}
		if _, err := c.top.out(ctx, nil, "add", "--all", "--", "."); err != nil {
			return "", err
		}
		c.tree, err = c.git.line(ctx, "write-tree")
		return old, err
	}
	if name := what; what == "-" || isPatch(what) {
		patch, err := readPatch(what, stdin)
		if err != nil {
			return "", err
		}
		if what == "-" {
			name = "standard input"
		}
		c.What = "the patch in " + name + " on HEAD"
		return c.apply(ctx, name, patch)
	}
	c.What = what
	from, to, two := strings.Cut(what, "..")
	to, since := strings.CutPrefix(to, ".")
	if !two {
		to = "HEAD"
		c.What = what + "..HEAD"
	}
	if old, err = c.commit(ctx, from); err != nil {
		return "", err
	}
	if c.tree, err = c.commit(ctx, to); err != nil {
		return "", err
	}
	if since {
		base, err := c.git.line(ctx, "merge-base", old, c.tree)
		if err != nil {
			return "", fmt.Errorf("%s: the two have no commit in common", what)
		}
		old = base
	}
	return old, nil
}

// commit resolves a name; empty is HEAD.
func (c *Change) commit(ctx context.Context, name string) (string, error) {
	if name == "" {
		name = "HEAD"
	}
	if strings.HasPrefix(name, "-") {
		return "", fmt.Errorf("%s is no name of a commit", name)
	}
	id, err := c.git.line(ctx, "rev-parse", "--verify", "--quiet", name+"^{commit}")
	if said := (*gitError)(nil); errors.As(err, &said) {
		if name == "HEAD" {
			return "", fmt.Errorf("the repository of %s has no commit yet, and a review starts from one", c.Dir)
		}
		return "", fmt.Errorf("%s is neither a commit of the repository of %s nor a patch file; git log --all --oneline lists the commits", name, c.Dir)
	}
	return id, err
}

// isPatch tells the name of a patch from that of a commit.
func isPatch(what string) bool {
	if ext := filepath.Ext(what); ext == ".patch" || ext == ".diff" {
		return true
	}
	info, err := os.Stat(what)
	return err == nil && info.Mode().IsRegular()
}

func readPatch(name string, stdin io.Reader) ([]byte, error) {
	if name != "-" {
		return os.ReadFile(name)
	}
	if stdin == nil {
		return nil, errors.New("there is no standard input to read the patch from")
	}
	return io.ReadAll(stdin)
}

// apply makes the new state of HEAD and a patch.
func (c *Change) apply(ctx context.Context, name string, patch []byte) (old string, err error) {
	if old, err = c.commit(ctx, "HEAD"); err != nil {
		return "", err
	}
	if _, err := c.git.out(ctx, nil, "read-tree", old); err != nil {
		return "", err
	}
	if len(strings.TrimSpace(string(patch))) > 0 { // git calls an empty one corrupt
		// Names in a patch are relative to the repository.
		_, err := c.top.out(ctx, strings.NewReader(string(patch)), "apply", "--cached", "--whitespace=nowarn", "-")
		if said := (*gitError)(nil); errors.As(err, &said) {
			return "", fmt.Errorf("%s does not apply to HEAD; review commits as A..B, or check out the commit it was made for: %w", name, err)
		}
		if err != nil {
			return "", err
		}
	}
	c.tree, err = c.git.line(ctx, "write-tree")
	return old, err
}

// read fills in the contents, and marks files that are not worth a review.
func (c *Change) read(ctx context.Context) error {
	var digests []string
	for i := range c.Files {
		if f := &c.Files[i]; f.Skip == "" && len(f.hunks) > 0 {
			digests = append(digests, f.New)
		}
	}
	texts, err := c.git.texts(ctx, digests)
	if err != nil {
		return err
	}
	for i := range c.Files {
		f := &c.Files[i]
		f.text = texts[f.New]
		switch {
		case f.Skip != "":
		case len(f.hunks) == 0:
			f.Skip = "only renamed, or with another mode"
		case locks[path.Base(f.Path)]:
			f.Skip = "versions of dependencies"
		case vendored.MatchString(f.Path):
			f.Skip = "a copy of a dependency"
		case generated.MatchString(f.text):
			f.Skip = "generated"
		}
	}
	return nil
}

// locks are files that tools write.
var locks = map[string]bool{
	"go.sum": true, "go.work.sum": true, "package-lock.json": true, "yarn.lock": true, "pnpm-lock.yaml": true, "Cargo.lock": true,
	"poetry.lock": true, "uv.lock": true, "Gemfile.lock": true, "composer.lock": true,
}

// generated is the mark of generated code, as the go command knows it, in the comments of
// other languages too.
var generated = regexp.MustCompile(`(?m)^(//|#|--|/\*) ?Code generated .* DO NOT EDIT\.`)

// vendored are the directories of copies of dependencies.
var vendored = regexp.MustCompile(`(^|/)(vendor|node_modules)/`)

// state returns a directory with the project in its new state.
func (c *Change) state(ctx context.Context) (string, error) {
	if c.live {
		return c.Dir, nil
	}
	dir := filepath.Join(c.temp, "new")
	whole := c.top.with("GIT_INDEX_FILE=" + filepath.Join(c.temp, "index.new"))
	if _, err := whole.out(ctx, nil, "read-tree", c.tree); err != nil {
		return "", err
	}
	if _, err := whole.out(ctx, nil, "checkout-index", "--all", "--force", "--prefix="+filepath.ToSlash(dir)+"/"); err != nil {
		return "", err
	}
	return filepath.Join(dir, filepath.FromSlash(c.Prefix)), nil
}

// IsGo reports whether the project has a Go module in its new state, or the change Go code.
func (c *Change) IsGo(ctx context.Context) (bool, error) {
	for _, f := range c.Files {
		if strings.HasSuffix(f.Path, ".go") {
			return true, nil
		}
	}
	list, err := c.git.out(ctx, nil, "ls-tree", "-r", "--name-only", c.tree)
	return strings.HasPrefix(list, "go.mod\n") || strings.Contains(list, "\ngo.mod\n") || strings.Contains(list, "/go.mod\n"), err
}
