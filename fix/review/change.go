package review

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// A Change is the difference between two states of a project.
type Change struct {
	Dir    string // the project
	Prefix string // its place in the repository, empty or with a slash at the end
	What   string // what is compared, as [Open] takes it
	Files  []File

	git  git
	top  git    // the same, at the root of the repository
	temp string // for what is not in the repository
}

// Open reads a change of the project in dir. What is
//
//   - empty: the working tree, with files that git does not know yet, against HEAD
//   - A..B: commit B against commit A; an empty one is HEAD
//   - A...B: commit B against the commit where it left A
//   - A: HEAD against commit A
//   - the name of a file, or -: a patch, applied to HEAD in a copy.
//
// It changes nothing in the project or its repository. Close removes what it keeps elsewhere. The patch - is
// read from stdin; environ is git's, and nil that of this process.
func Open(ctx context.Context, dir, what string, stdin io.Reader, environ []string) (*Change, error) {
	if environ == nil {
		environ = os.Environ()
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	c := &Change{Dir: abs, What: what, git: newGit(abs, environ)}
	if err := c.open(ctx, stdin); err != nil {
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

func (c *Change) open(ctx context.Context, stdin io.Reader) error {
	said, err := c.git.out(ctx, nil, "rev-parse", "--show-prefix", "--show-toplevel", "--path-format=absolute", "--git-path", "objects")
	if not := (*gitError)(nil); errors.As(err, &not) && strings.Contains(not.said, "not a git repository") {
		return fmt.Errorf("%s is not in a git repository; name one that is, or run git init and commit", c.Dir)
	}
	if err != nil {
		return err
	}
	lines := strings.Split(said, "\n")
	if len(lines) != 3 {
		return fmt.Errorf("git rev-parse: %q has not three lines", said)
	}
	c.Prefix = lines[0]
	if err := c.shadow(lines[2]); err != nil {
		return err
	}
	c.top = git{filepath.FromSlash(lines[1]), c.git.env}
	old, tree, err := c.trees(ctx, stdin)
	if err != nil {
		return err
	}
	// Whole functions, so that a reader sees what the lines are part of.
	text, err := c.git.out(ctx, nil, "diff", "--full-index", "--no-color", "--no-ext-diff", "--no-textconv", "--find-renames",
		"--src-prefix=a/", "--dst-prefix=b/", "--submodule=short", "--unified=10", "--function-context", "--relative", old, tree, "--")
	if err != nil {
		return err
	}
	if c.Files, err = Parse(text); err != nil {
		return err
	}
	return c.skip(ctx, tree)
}

// shadow has git store new contents elsewhere, beside an index of its own.
func (c *Change) shadow(objects string) (err error) {
	if c.temp, err = os.MkdirTemp("", "pawl-review-"); err != nil {
		return err
	}
	own := filepath.Join(c.temp, "objects")
	if err := os.Mkdir(own, 0o700); err != nil {
		return err
	}
	if strings.ContainsAny(objects, "\"\n"+string(filepath.ListSeparator)) {
		objects = fmt.Sprintf("%q", objects)
	}
	c.git.env = append(c.git.env, "GIT_INDEX_FILE="+filepath.Join(c.temp, "index"), "GIT_OBJECT_DIRECTORY="+own, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+objects)
	return nil
}

// trees returns both states.
func (c *Change) trees(ctx context.Context, stdin io.Reader) (old, tree string, err error) {
	if c.What == "" || c.What == "-" || isPatch(c.What) {
		if old, err = c.commit(ctx, "HEAD"); err != nil {
			return "", "", err
		}
		if _, err := c.top.out(ctx, nil, "read-tree", old); err != nil {
			return "", "", err
		}
		if c.What != "" {
			err = c.apply(ctx, stdin)
		} else {
			_, err = c.top.out(ctx, nil, "add", "--all", "--", ".")
		}
		if err == nil {
			tree, err = c.git.out(ctx, nil, "write-tree")
		}
		return old, tree, err
	}
	from, to, two := strings.Cut(c.What, "..")
	to, since := strings.CutPrefix(to, ".")
	if !two {
		to = "HEAD"
	}
	if old, err = c.commit(ctx, from); err == nil {
		tree, err = c.commit(ctx, to)
	}
	if err == nil && since {
		if old, err = c.git.out(ctx, nil, "merge-base", old, tree); err != nil {
			err = fmt.Errorf("%s: the two have no commit in common", c.What)
		}
	}
	return old, tree, err
}

// commit resolves a name; empty is HEAD.
func (c *Change) commit(ctx context.Context, name string) (string, error) {
	if name == "" {
		name = "HEAD"
	}
	if strings.HasPrefix(name, "-") {
		return "", fmt.Errorf("%s is no name of a commit", name)
	}
	id, err := c.git.out(ctx, nil, "rev-parse", "--verify", "--quiet", name+"^{commit}")
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

// apply applies the patch to the index. Names in a patch are relative to the repository.
func (c *Change) apply(ctx context.Context, stdin io.Reader) error {
	var patch []byte
	err := errors.New("there is no standard input to read the patch from")
	if c.What != "-" {
		patch, err = os.ReadFile(c.What)
	} else if stdin != nil {
		patch, err = io.ReadAll(stdin)
	}
	if err != nil || strings.TrimSpace(string(patch)) == "" { // git calls an empty one corrupt
		return err
	}
	_, err = c.top.out(ctx, strings.NewReader(string(patch)), "apply", "--cached", "--whitespace=nowarn", "-")
	if said := (*gitError)(nil); errors.As(err, &said) {
		return fmt.Errorf("%s does not apply to HEAD; review commits as A..B, or check out its base: %w", c.What, err)
	}
	return err
}

// skip marks files that are not worth a review.
func (c *Change) skip(ctx context.Context, tree string) error {
	// The mark of generated code, as the go command knows it, in the comments of other languages too.
	list, err := c.git.out(ctx, nil, "grep", "-zlE", `^(//|#|--|/\*) ?Code generated .* DO NOT EDIT\.`, tree, "--", ".")
	if said := (*gitError)(nil); err != nil && (!errors.As(err, &said) || said.said != "") { // it fails where there is none
		return err
	}
	for i := range c.Files {
		switch f := &c.Files[i]; {
		case f.Skip != "":
		case len(f.shown) == 0:
			f.Skip = "only renamed, or with another mode"
		case locks[path.Base(f.Path)]:
			f.Skip = "versions of dependencies"
		case vendored.MatchString(f.Path):
			f.Skip = "a copy of a dependency"
		case strings.Contains("\x00"+list+"\x00", "\x00"+tree+":"+f.Path+"\x00"):
			f.Skip = "generated"
		case len(f.View()) > mostView:
			f.Skip = fmt.Sprintf("too large for a model: the changed functions are more than %d bytes", mostView)
		}
	}
	return nil
}

// mostView is how many bytes of a file a model reads.
const mostView = 200_000

// locks are files that tools write.
var locks = map[string]bool{
	"go.sum": true, "go.work.sum": true, "package-lock.json": true, "yarn.lock": true, "pnpm-lock.yaml": true, "Cargo.lock": true,
	"poetry.lock": true, "uv.lock": true, "Gemfile.lock": true, "composer.lock": true,
}

// vendored are the directories of copies of dependencies.
var vendored = regexp.MustCompile(`(^|/)(vendor|node_modules)/`)
