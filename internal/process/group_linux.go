package process

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// groups returns the directory in which control groups that count processes can
// be created; empty: none. In version 2 it is the parent of this process's
// group, since a group with processes cannot delegate controllers (cgroups(7),
// "no internal processes"); in version 1 it is the group itself.
var groups = sync.OnceValue(func() string {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		var candidates []string
		switch {
		case parts[0] == "0" && parts[1] == "":
			for _, root := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
				candidates = append(candidates, filepath.Join(root, filepath.Dir(parts[2])))
			}
		case strings.Contains(","+parts[1]+",", ",pids,"):
			candidates = append(candidates, "/sys/fs/cgroup/pids"+parts[2], "/sys/fs/cgroup/"+parts[1]+parts[2])
		}
		for _, dir := range candidates {
			if group, err := groupIn(dir, 1); err == nil {
				_ = os.Remove(group)
				return dir
			}
		}
	}
	return ""
})

// makeGroup creates a control group limited to most processes.
func makeGroup(most int) (string, error) { return groupIn(groups(), most) }

func groupIn(dir string, most int) (string, error) {
	group := filepath.Join(dir, "pawl-"+rand.Text())
	if err := os.Mkdir(group, 0o700); err != nil {
		return "", fmt.Errorf("control group: %w", err)
	}
	if err := os.WriteFile(filepath.Join(group, "pids.max"), []byte(strconv.Itoa(most)), 0); err != nil {
		_ = os.Remove(group)
		return "", fmt.Errorf("control group: %w", err)
	}
	return group, nil
}

// removeGroup kills the processes left in a group, such as one that has left
// the command's session, and removes the group when the kernel has noticed that
// all are gone.
func removeGroup(group string) error {
	var err error
	for range 20 {
		if err = os.Remove(group); err == nil || os.IsNotExist(err) {
			return nil
		}
		left, _ := os.ReadFile(filepath.Join(group, "cgroup.procs"))
		for line := range strings.Lines(string(left)) {
			if pid, err := strconv.Atoi(strings.TrimSpace(line)); err == nil && pid > 1 {
				_ = unix.Kill(pid, unix.SIGKILL)
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
	return err
}
