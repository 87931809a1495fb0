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

// setting is a file of a control group and what to write to it.
type setting struct{ file, value string }

// settings limit what is counted by a controller, in version 2 of control groups or 1.
// A group must have one of them; swap is not counted everywhere.
func settings(controller string, most int64) []setting {
	limit := strconv.FormatInt(most, 10)
	if controller == "pids" {
		return []setting{{"pids.max", limit}}
	}
	return []setting{{"memory.max", limit}, {"memory.swap.max", "0"}, {"memory.limit_in_bytes", limit}, {"memory.memsw.limit_in_bytes", limit}}
}

var (
	pidsGroups   = sync.OnceValue(func() string { return parentOf("pids") })
	memoryGroups = sync.OnceValue(func() string { return parentOf("memory") })
)

// groups returns the directory in which control groups of a controller can be created;
// empty: none.
func groups(controller string) string {
	if controller == "pids" {
		return pidsGroups()
	}
	return memoryGroups()
}

// parentOf finds that directory. In version 2 it is the parent of this process's
// group, since a group with processes cannot delegate controllers (cgroups(7),
// "no internal processes"); in version 1 it is the group itself.
func parentOf(controller string) string {
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
				if dir := filepath.Join(root, filepath.Dir(parts[2])); unix.Access(dir+"/cgroup.procs", unix.W_OK) == nil { // which moving a process takes
					candidates = append(candidates, dir)
				}
			}
		case strings.Contains(","+parts[1]+",", ","+controller+","):
			candidates = append(candidates, "/sys/fs/cgroup/"+controller+parts[2], "/sys/fs/cgroup/"+parts[1]+parts[2])
		}
		for _, dir := range candidates {
			if group, err := makeGroup(dir, settings(controller, 1<<20)); err == nil {
				_ = os.Remove(group)
				return dir
			}
		}
	}
	return ""
}

// makeGroup creates a control group with the limits.
func makeGroup(dir string, limits []setting) (string, error) {
	group := filepath.Join(dir, "pawl-"+rand.Text())
	if err := os.Mkdir(group, 0o700); err != nil {
		return "", fmt.Errorf("control group: %w", err)
	}
	written := map[string]bool{} // controllers
	var failed error
	for _, l := range limits {
		if err := os.WriteFile(filepath.Join(group, l.file), []byte(l.value), 0); err != nil {
			failed = err
			continue
		}
		controller, _, _ := strings.Cut(l.file, ".")
		written[controller] = true
	}
	for _, l := range limits {
		if controller, _, _ := strings.Cut(l.file, "."); !written[controller] {
			_ = os.Remove(group)
			return "", fmt.Errorf("control group: %w", failed)
		}
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
