//go:build linux || darwin

package skill_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/internal/testkit/hostile"
	"github.com/pawl-run/pawl/tool/skill"
)

// Of hundreds of paths none gives what is outside, or says where the folder is.
func TestHostilePaths(t *testing.T) {
	check.SkipShort(t, "one goroutine after another, in which the race detector has nothing to see: -short")
	dir, outside, err := hostile.Jail(t.TempDir())
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, skill.File), []byte(text), 0o600))
	k := skill.Tool(skill.Skill{Name: "pdf", Dir: dir})
	for _, path := range hostile.Paths(outside) {
		got, err := ask(t, k, map[string]string{"skill": "pdf", "file": path})
		if err == nil {
			t.Errorf("%q gives %q", path, got)
		} else if strings.Contains(err.Error(), filepath.Dir(outside)) && !strings.Contains(path, outside) {
			t.Errorf("%q tells where the folder is: %v", path, err)
		}
	}
	if got, err := ask(t, k, map[string]string{"skill": "pdf", "file": "good-link"}); err != nil || got != "inside\n" {
		t.Errorf("a link that stays inside: %q, %v", got, err)
	}
	instructions := filepath.Join(dir, skill.File)
	must(t, os.Remove(instructions))
	must(t, os.Symlink(filepath.Join(outside, "secret"), instructions))
	if got, err := use(t, skill.Skill{Name: "pdf", Dir: dir}, map[string]string{"skill": "pdf"}); err == nil {
		t.Errorf("instructions from outside: %q", got)
	}
}
