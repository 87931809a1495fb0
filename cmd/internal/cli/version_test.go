package cli

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// What each way to build the command says of it.
func TestVersion(t *testing.T) {
	defer func(v, c, d string) { version, commit, date = v, c, d }(version, commit, date)
	end := ", " + runtime.Version() + ", " + runtime.GOOS + "/" + runtime.GOARCH
	clone := []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.time", Value: "2026-11-01T00:00:00Z"}, {Key: "vcs.modified", Value: "true"}}
	for name, c := range map[string]struct {
		linked [3]string
		info   debug.BuildInfo
		want   string
	}{
		"go run":     {want: "pawl (devel), commit unknown"},
		"go install": {info: debug.BuildInfo{Main: debug.Module{Version: "v0.1.0"}}, want: "pawl v0.1.0, commit unknown"},
		"go build":   {info: debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: clone}, want: "pawl (devel), commit abc of 2026-11-01T00:00:00Z (with changes)"},
		"ldflags":    {[3]string{"v0.2.0", "def", "2026-12-01"}, debug.BuildInfo{Settings: clone}, "pawl v0.2.0, commit def of 2026-12-01"},
	} {
		version, commit, date = c.linked[0], c.linked[1], c.linked[2]
		if got := buildOf(&c.info).String(); got != c.want+end {
			t.Errorf("%s: %q, want %q", name, got, c.want+end)
		}
	}
}
