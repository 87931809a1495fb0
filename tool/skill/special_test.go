//go:build linux || darwin

package skill_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-run/pawl/tool/skill"
)

// Pipes and devices hold nobody up and are not read, however they are reached.
func TestSpecialFiles(t *testing.T) {
	dir, _ := folder(t)
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Skip(err)
	}
	for name, to := range map[string]string{"zero": "/dev/zero", "far": "../../../../../../../../dev/zero", "also": "pipe"} {
		must(t, os.Symlink(to, filepath.Join(dir, name)))
	}
	began := time.Now()
	k := skill.Skill{Name: "pdf", Dir: dir}
	for _, name := range []string{"pipe", "zero", "far", "also"} {
		if got, err := use(t, k, map[string]string{"skill": "pdf", "file": name}); err == nil {
			t.Errorf("%s gives %.20q", name, got)
		}
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
}
