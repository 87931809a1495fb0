//go:build linux

package house

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// instruction is one of a Dockerfile, as testdata/image/read.js prints it.
type instruction struct {
	Name        string
	Flags, Args []string
}

// certificates is where Debian, and Alpine in the image, have those of the system.
const certificates = "/etc/ssl/certs/ca-certificates.crt"

// without skips a test that needs something, or fails it under CI.
func without(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// TestImage follows the Dockerfiles without Docker: it makes the files of the image, and in them
// starts what the image starts, as the user of the image. The server runs an agent. That of a clone
// builds the program, and that of a release gets it.
func TestImage(t *testing.T) {
	tr := repository(t)
	if os.Getuid() != 0 {
		without(t, "only root can change the root directory")
	}
	work := filepath.Join(t.TempDir(), "image")
	imageOf(t, tr, "Dockerfile", work, "")
	imageOf(t, tr, "deploy/Dockerfile", "", filepath.Join(work, "usr/bin/pawl"))
}

// imageOf makes an image: its build stage in work; empty: the program is pawl.
func imageOf(t *testing.T, tr *tree, dockerfile, work, pawl string) {
	t.Helper()
	said, err := exec.CommandContext(t.Context(), "node", filepath.Join(tr.root, "testdata/image/read.js"), filepath.Join(tr.root, dockerfile)).Output()
	if err != nil {
		without(t, "testdata/image/read.js: %v; npm ci in testdata/image installs what it needs", err)
	}
	var file struct {
		Instructions []instruction
		Problems     []string
	}
	if err := json.Unmarshal(said, &file); err != nil || len(file.Problems) > 0 {
		t.Fatalf("%s: %v, %q", dockerfile, err, file.Problems)
	}
	root := t.TempDir()
	run := &exec.Cmd{Env: []string{"PAWL_TOKEN=secret-of-the-test"}, SysProcAttr: &syscall.SysProcAttr{Chroot: root}}
	follow(t, file.Instructions, tr.root, root, work, pawl, run)
	pawl = filepath.Join(root, "usr/bin/pawl")
	for name, text := range map[string]string{"hello.yaml": "name: hello\nmodel: script:scripts/greet.yaml\nprompt: Greet.\n", "scripts/greet.yaml": "replies:\n  - text: Hello from the image.\n"} {
		file := filepath.Join(root, "agents", name)
		must(t, write(file, text))
	}
	at := serve(t, run)
	if answer, err := http.Get(at + "/healthz"); err != nil || answer.StatusCode != http.StatusOK { //nolint:bodyclose // the process ends
		t.Errorf("/healthz: %v, %v", answer, err)
	}
	client := exec.CommandContext(t.Context(), pawl, "run", "hello", "Hi.", "--server", at)
	client.Env = []string{"PAWL_TOKEN=secret-of-the-test"}
	if out, err := client.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("Hello from the image.")) {
		t.Errorf("pawl run --server: %v\n%s", err, out)
	}
	if _, err := os.Stat(filepath.Join(root, "data/pawl/pawl.db")); err != nil {
		t.Errorf("the volume has no database: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(root, "*")); err != nil || len(left) != 5 {
		t.Errorf("the image has %q (%v), want agents, data, etc, tmp and usr", left, err)
	}
}

func write(file, text string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o644)
}

// follow makes the files of the last stage of a Dockerfile below root, with the build stage in work,
// and sets what it starts.
func follow(t *testing.T, all []instruction, repo, root, work, pawl string, run *exec.Cmd) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		must(t, err)
	}
	must(os.Chmod(root, 0o755)) // as that of an image is
	var made, entry, args []string
	for _, i := range all {
		switch i.Name {
		case "RUN": // of which, for a release, the directories that it makes count here
			if work != "" {
				// Compiled as the rest was, which may hold paths.
				here := strings.NewReplacer("/image/", work+"/", " -trimpath ", " ")
				c := exec.CommandContext(t.Context(), "sh", "-c", here.Replace(strings.Join(i.Args, " ")))
				c.Dir = repo
				if out, err := c.CombinedOutput(); err != nil {
					t.Fatalf("RUN %q: %v\n%s", i.Args, err, out)
				}
			}
			for _, a := range i.Args {
				if strings.HasPrefix(a, "/image/") {
					made = append(made, a)
				}
			}
		case "COPY":
			from, to := i.Args[0], i.Args[1]
			uid, gid := 0, 0
			for _, f := range i.Flags {
				if _, err := fmt.Sscanf(f, "--chown=%d:%d", &uid, &gid); err != nil && strings.HasPrefix(f, "--chown") {
					t.Fatalf("%s: %v", f, err)
				}
			}
			switch {
			case from == ".": // the clone, where the commands run
			case from == "/image/" && work != "":
				must(exec.CommandContext(t.Context(), "cp", "-a", work+"/.", root).Run())
			case from == "/image/" && to == "/":
				for _, dir := range made {
					dir = filepath.Join(root, strings.TrimPrefix(dir, from))
					must(os.Mkdir(dir, 0o755))
					must(os.Chown(dir, uid, gid))
				}
			default:
				source := map[string]string{certificates: certificates, "$TARGETPLATFORM/pawl": pawl}[from]
				data, err := os.ReadFile(source)
				if err != nil {
					without(t, "COPY %s: %v", from, err)
				}
				if source == certificates && !x509.NewCertPool().AppendCertsFromPEM(data) {
					t.Errorf("%s has no certificates", source)
				}
				if strings.HasSuffix(to, "/") {
					to += filepath.Base(from)
				}
				to = filepath.Join(root, to)
				must(os.MkdirAll(filepath.Dir(to), 0o755))
				must(os.WriteFile(to, data, 0o755))
			}
		case "ENV":
			run.Env = append(run.Env, i.Args...)
		case "USER":
			uid, gid, _ := strings.Cut(i.Args[0], ":")
			u, err1 := strconv.ParseUint(uid, 10, 32)
			g, err2 := strconv.ParseUint(gid, 10, 32)
			if must(cmp.Or(err1, err2)); u == 0 || g == 0 {
				t.Errorf("USER %s is root", i.Args[0])
			}
			run.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(u), Gid: uint32(g), NoSetGroups: false}
		case "WORKDIR":
			run.Dir = i.Args[0]
		case "ENTRYPOINT":
			entry = i.Args
		case "CMD":
			args = i.Args
		}
	}
	if len(entry) == 0 || run.SysProcAttr.Credential == nil {
		t.Fatal("the Dockerfile has no ENTRYPOINT or no USER")
	}
	for i, a := range args {
		if strings.HasPrefix(a, "0.0.0.0:") {
			args[i] = "127.0.0.1:0"
		}
	}
	run.Path, run.Args = entry[0], append(entry, args...)
}

// serve starts a server, and returns its address when it listens. It is stopped at the end of the test.
func serve(t *testing.T, run *exec.Cmd) string {
	t.Helper()
	out, write, err := os.Pipe()
	must(t, err)
	run.Stdout, run.Stderr = write, write
	if err := run.Start(); err != nil {
		t.Fatalf("%q: %v", run.Args, err)
	}
	_ = write.Close()
	t.Cleanup(func() {
		_ = run.Process.Signal(syscall.SIGTERM)
		timer := time.AfterFunc(30*time.Second, func() { _ = run.Process.Kill() })
		defer timer.Stop()
		if err := run.Wait(); err != nil && run.ProcessState.ExitCode() != 130 {
			t.Errorf("the server ended with %v", err)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	context.AfterFunc(ctx, func() { _ = out.SetReadDeadline(time.Now()) })
	text := ""
	for lines := bufio.NewScanner(out); lines.Scan(); {
		text += lines.Text() + "\n"
		if _, at, ok := strings.Cut(lines.Text(), "http://"); ok {
			go func() { _, _ = out.WriteTo(&bytes.Buffer{}) }()
			return "http://" + strings.Trim(strings.FieldsFunc(at, func(r rune) bool { return r == ' ' || r == ',' || r == '/' })[0], ".")
		}
	}
	t.Fatalf("on %s the server printed no address:\n%s", runtime.GOARCH, text)
	return ""
}
