package tool_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/tool"
)

// caging lets commands of this test be caged; the supervisor stays away.
func caging(t *testing.T, c *tool.Cage) {
	t.Helper()
	tool.Supervise()
	tool.Unsupervise()
	err := c.Missing()
	switch {
	case err == nil:
	case os.Getenv("CI") != "" && c.Files == nil && c.Processes == 0:
		t.Fatal(err) // it takes a kernel of any age, and no rights
	default:
		t.Skip(err)
	}
}

// pit is a directory with files that a command may read, one where it may write
// and what is none of its business.
type pit struct {
	dir  string
	cage *tool.Cage
}

func newPit(t *testing.T) *pit {
	t.Helper()
	p := &pit{dir: t.TempDir()}
	check.Write(t, p.dir, map[string]string{"in/a.txt": "inside", "out/b.txt": "", "secret": "the secret", "outside/x": "the secret"})
	for name, to := range map[string]string{"in/up": "..", "in/link": "../secret", "out/abs": filepath.Join(p.dir, "secret"), "in/root": "/"} {
		must(t, os.Symlink(to, filepath.Join(p.dir, name)))
	}
	self, err := os.Executable()
	must(t, err)
	p.cage = &tool.Cage{Files: &tool.CageFiles{Read: []string{"in", self}, Write: []string{"out"}}}
	return p
}

func (p *pit) run(t *testing.T, c *tool.Cage, words ...string) (string, error) {
	t.Helper()
	out, err := tool.RunCommand(&tool.CommandOptions{Dir: p.dir, Cage: c, Timeout: 20 * time.Second}).Run(t.Context(), argv(t, words...))
	return pawl.ToolResult{Content: out.JSON}.Text(), err
}

// attempts has this program try things in the cage, one after the other.
func (p *pit) attempts(t *testing.T, c *tool.Cage, trials ...string) map[string]string {
	t.Helper()
	got, err := p.run(t, c, part(t, "try", trials...)...)
	must(t, err)
	came := map[string]string{}
	for i, line := range strings.Split(got, "\n") {
		came[trials[i]] = line
	}
	return came
}

func TestCageFiles(t *testing.T) { // Promises: B7.
	p := newPit(t)
	caging(t, p.cage)
	secret := filepath.Join(p.dir, "secret")
	var trials []string
	for _, path := range []string{
		secret, "secret", "in/../secret", "in/link", "in/up/secret", "out/abs", "in/root/etc/passwd", "/etc/passwd", "/etc/shadow", "/proc/self/environ",
		"/proc/self/root" + secret, "/proc/self/cwd/secret", "/proc/1/environ", "/proc/self/mem", "/proc/" + strconv.Itoa(os.Getpid()) + "/environ",
		"/proc/" + strconv.Itoa(os.Getpid()) + "/cwd/../go.mod", "/root/.bashrc", "/dev/mem", "/dev/kmsg", "/var/log", "/tmp", "/home", "/", ".",
	} {
		trials = append(trials, "read "+path)
	}
	for _, op := range []string{"write", "truncate", "open-truncate", "append", "remove", "rename-out", "link-in", "mkdir", "symlink", "fifo", "device", "socket-file"} {
		for _, path := range []string{secret, "in/link", "outside/x", "in/a.txt", "in/new", "outside/new", "out/abs"} {
			if op == "link-in" && !strings.Contains(path, "x") && path != secret || path == "out/abs" && (op == "remove" || op == "rename-out" || strings.HasPrefix(op, "link")) {
				continue
			}
			trials = append(trials, op+" "+path)
		}
	}
	for trial, got := range p.attempts(t, p.cage, trials...) {
		read := strings.HasPrefix(trial, "read")
		if got == "done" || read && !strings.Contains(got, "permission denied") && !strings.Contains(got, "no such file") && !strings.Contains(got, "no such device") {
			t.Errorf("%s: %s", trial, got)
		}
	}
	if data, err := os.ReadFile(secret); err != nil || string(data) != "the secret" {
		t.Errorf("%q, %v", data, err)
	}
	// What is allowed works, also from what it starts, and by a link that stays inside.
	write(t, filepath.Join(p.dir, "out/old"), "written", 0o644)
	trials = []string{"read in/a.txt", "read out/old", "write out/new", "write /dev/null", "mkdir out/d", "symlink out/l", "rename-out out/new"}
	got := p.attempts(t, p.cage, trials...)
	for i, want := range []string{"inside", "written", "done", "done", "done", "done", "done"} {
		if got[trials[i]] != want {
			t.Errorf("%s: %s", trials[i], got[trials[i]])
		}
	}
	if got, err := p.run(t, p.cage, "sh", "-c", "cat in/a.txt; echo more > $TMPDIR/x && cat $TMPDIR/x; [ $HOME = $TMPDIR ] && echo same; cat secret"); err == nil || !strings.Contains(err.Error(), "secret: Permission denied") {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := p.run(t, p.cage, "sh", "-c", "echo $TMPDIR; echo more > $TMPDIR/x && ls $HOME"); err != nil || !strings.HasSuffix(got, "\nx") {
		t.Errorf("%q, %v", got, err)
	} else if _, err := os.Stat(strings.TrimSuffix(got, "\nx")); err == nil {
		t.Error("the directory of its own was left")
	}
	out, err := command([]string{"sh", "-c", `cd "$PAWL_FILES"; cp "$OLDPWD/in/a.txt" .; ln -s "$OLDPWD/secret" b; ln "$OLDPWD/secret" c || exit 0`},
		&tool.CommandOptions{Dir: p.dir, Cage: p.cage}).Run(t.Context(), pawl.Invocation{})
	if got := summary(out); err != nil || len(got) != 1 || got[0] != `a.txt "inside" 6` {
		t.Errorf("the files are %q, %v", got, err)
	}
}

// A program of the model's choice must be within the cage. One that is declared
// is, with its scripts, wherever it is.
func TestCageProgram(t *testing.T) {
	p := newPit(t)
	caging(t, p.cage)
	script := filepath.Join(p.dir, "outside", "s.sh")
	write(t, script, "#!/bin/sh\necho ran; cat outside/x\n", 0o755)
	if _, err := p.run(t, p.cage, script); err == nil || !strings.Contains(err.Error(), "its cage does not let it be read and executed") {
		t.Error(err)
	}
	for _, words := range [][]string{{script}, {"sh", script}} {
		_, err := tool.Command("s", "d", words, &tool.CommandOptions{Dir: p.dir, Cage: p.cage}).Run(t.Context(), pawl.Invocation{})
		if err == nil || !strings.Contains(err.Error(), "outside/x: Permission denied") {
			t.Error(words, err)
		}
	}
	p.cage.Files.Read = append(p.cage.Files.Read, "nowhere")
	if _, err := p.run(t, p.cage, "true"); err == nil || !strings.Contains(err.Error(), "nowhere under read, which is not there") {
		t.Error(err)
	}
	if _, err := p.run(t, &tool.Cage{}, "no-such-program"); err == nil || !strings.Contains(err.Error(), "not found in PATH") {
		t.Error(err)
	}
}

func TestCageNetwork(t *testing.T) {
	p := newPit(t)
	none := &tool.Cage{NoNetwork: true}
	caging(t, none)
	accepted := make(chan string, 100)
	listen := func(network, address string) net.Listener {
		l, err := net.Listen(network, address)
		must(t, err)
		t.Cleanup(func() { l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				accepted <- network + " " + address
				c.Close()
			}
		}()
		return l
	}
	tcp := listen("tcp", "127.0.0.1:0").Addr().String()
	listen("unix", filepath.Join(p.dir, "out", "sock"))
	abstract := fmt.Sprintf("@pawl-test-%d", os.Getpid())
	listen("unix", abstract)
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	must(t, err)
	defer udp.Close()
	ways := []string{"dial tcp " + tcp, "dial udp " + udp.LocalAddr().String(), "dial unix out/sock", "dial unix " + abstract, "listen tcp 127.0.0.1:0", "io_uring", "keys"}
	for _, family := range []int{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK, unix.AF_PACKET, unix.AF_VSOCK, unix.AF_ALG, unix.AF_BLUETOOTH} {
		for _, kind := range []int{unix.SOCK_STREAM, unix.SOCK_DGRAM, unix.SOCK_RAW, unix.SOCK_SEQPACKET} {
			ways = append(ways, fmt.Sprintf("socket %d %d", family, kind))
		}
	}
	ways = append(ways, "pair")
	for way, got := range p.attempts(t, none, ways...) {
		if (got == "done") != (way == "pair") {
			t.Errorf("%s: %s", way, got)
		}
	}
	if len(accepted) > 0 {
		t.Errorf("somebody was reached: %s", <-accepted)
	}
	// With its files caged, a command that may use the network must not reach the
	// programs of the user that listen on a file.
	caging(t, p.cage)
	ways = []string{"dial tcp " + tcp, "dial unix out/sock", "dial unix " + abstract, "io_uring"}
	got := p.attempts(t, p.cage, ways...)
	for i, want := range []string{"done", "permission denied", "permission denied", "not implemented"} {
		if !strings.Contains(got[ways[i]], want) {
			t.Errorf("%s: %s, want %s", ways[i], got[ways[i]], want)
		}
	}
}

func TestCageMemory(t *testing.T) {
	check.SkipShort(t, "built with the race detector, the program that enters the cage may need more than this one allows")
	p := newPit(t)
	c := &tool.Cage{Memory: 64 << 20}
	caging(t, c)
	for words, want := range map[string]string{
		"dd if=/dev/zero of=/dev/null bs=200M count=1":                                     "exhausted",
		"dd if=/dev/zero of=out/large bs=1M count=100":                                     "killed by SIGXFSZ",
		"prlimit --data=1000000000 true":                                                   "ermitted",
		"dd if=/dev/zero of=/dev/null bs=16M count=1":                                      "",
		"sh -c exec\u00a0dd\u00a0if=/dev/zero\u00a0of=/dev/null\u00a0bs=200M\u00a0count=1": "exhausted",
	} {
		list := strings.Split(words, " ")
		for i := range list {
			list[i] = strings.ReplaceAll(list[i], "\u00a0", " ")
		}
		if _, err := exec.LookPath(list[0]); err != nil {
			continue
		}
		_, err := p.run(t, c, list...)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", words, err)
		}
	}
	if info, err := os.Stat(filepath.Join(p.dir, "out/large")); err == nil && info.Size() > 64<<20 {
		t.Errorf("a file of %d bytes", info.Size())
	}
}

func TestCageProcesses(t *testing.T) {
	p := newPit(t)
	c := &tool.Cage{Processes: 20}
	caging(t, c)
	if got, err := p.run(t, c, "sh", "-c", "for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.1 & done; wait; echo ok"); err != nil || got != "ok" {
		t.Errorf("%q, %v", got, err)
	}
	began := time.Now()
	if got, err := p.run(t, c, "sh", "-c", "i=0; while [ $i -lt 60 ]; do sleep 59 & i=$((i+1)); done; echo all"); err == nil || !strings.Contains(err.Error(), "fork") {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := exec.LookPath("setsid"); err == nil && os.Getuid() == 0 { // a group knows its own, whatever their session
		if got, err := p.run(t, c, "sh", "-c", "setsid sleep 58 >/dev/null 2>&1 & echo ok"); err != nil || got != "ok" {
			t.Errorf("%q, %v", got, err)
		}
	}
	// A bomb: it and all it left are gone when the call is over.
	got, err := p.run(t, c, "sh", "-c", "b() { b | b & }; b; sleep 0.3; echo over")
	if n := processes(t, p.dir); n > 0 || time.Since(began) > 45*time.Second {
		t.Errorf("%d are left after %v: %q, %v", n, time.Since(began), got, err)
	}
}

// processes counts those whose working directory is dir.
func processes(t *testing.T, dir string) (n int) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cwd")
	must(t, err)
	for _, link := range all {
		if at, err := os.Readlink(link); err == nil && at == dir {
			n++
		}
	}
	return n
}

func TestCagePrivileges(t *testing.T) {
	p := newPit(t)
	for _, c := range []*tool.Cage{{}, p.cage} {
		caging(t, c)
		if got := p.attempts(t, c, "privileges")["privileges"]; got != "caps 0 0 0 0 nnp 1 core 0" {
			t.Error(got)
		}
		// A descriptor that this process happens to have without close-on-exec.
		r, w, err := os.Pipe()
		must(t, err)
		_, err = unix.FcntlInt(w.Fd(), unix.F_SETFD, 0)
		must(t, err)
		if got, err := p.run(t, c, "sh", "-c", "for i in 3 4 5 6 7 8 9; do { true >&$i; } 2>/dev/null && echo $i; done; true"); err != nil || got != "" {
			t.Errorf("it has %q, %v", got, err)
		}
		r.Close()
		w.Close()
	}
	victim := exec.Command("sleep", "20")
	must(t, victim.Start())
	defer func() { _ = victim.Process.Kill(); _ = victim.Wait() }()
	pid := strconv.Itoa(victim.Process.Pid)
	trials := []string{"ptrace " + pid, "mem " + pid}
	if kernel(t) >= 6.12 { // before it Landlock does not know of signals
		trials = append(trials, "signal "+pid)
	}
	for trial, got := range p.attempts(t, p.cage, trials...) {
		if got == "done" {
			t.Errorf("%s was done", trial)
		}
	}
}

// kernel is its version, as 6.12.
func kernel(t *testing.T) float64 {
	t.Helper()
	var name unix.Utsname
	must(t, unix.Uname(&name))
	var major, minor int
	_, _ = fmt.Sscanf(unix.ByteSliceToString(name.Release[:]), "%d.%d", &major, &minor)
	return float64(major) + float64(minor)/100
}

// The same as a user without rights, if this is root.
func TestCageAsNobody(t *testing.T) {
	check.SkipShort(t, "one goroutine after another, in which the race detector has nothing to see: -short")
	if os.Getuid() != 0 {
		t.Skip("only root can be another")
	}
	dir, err := os.MkdirTemp("", "pawl-nobody-") //nolint:usetesting // which is for one user only
	must(t, err)
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "tool.test")
	from, err := os.Open("/proc/self/exe")
	must(t, err)
	defer from.Close()
	to, err := os.OpenFile(program, os.O_CREATE|os.O_WRONLY, 0o755)
	must(t, err)
	_, err = io.Copy(to, from)
	must(t, err)
	must(t, to.Close())
	must(t, os.Chmod(dir, 0o777))
	cmd := exec.Command(program, "-test.run=^TestCage(Files|Program|Network|Memory|Processes|Privileges|Others|Outward|Kinds|Shared|Datagrams)$", "-test.v", "-test.timeout=60s")
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + dir, "HOME=" + dir}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	for line := range strings.Lines(out.String()) {
		if strings.Contains(line, "SKIP") {
			t.Log(line)
		}
	}
}

var zeroed [1 << 20]byte

// hold uses 300 MB of a kind of memory.
func hold(kind string) error {
	const size = 900 << 20 // above the limit of TestCageKinds
	if kind == "nameless" {
		fd, err := unix.MemfdCreate("x", 0)
		for wrote := 0; err == nil && wrote < size; wrote += 1 << 20 {
			if wrote%(100<<20) == 0 {
				fd, err = unix.MemfdCreate("x", 0) // each within the limit of a file
			}
			_, _ = unix.Write(fd, zeroed[:])
		}
		return err
	}
	flags := map[string]int{"grows": unix.MAP_PRIVATE | unix.MAP_ANONYMOUS | unix.MAP_GROWSDOWN, "shared": unix.MAP_SHARED | unix.MAP_ANONYMOUS}[kind]
	memory, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, flags)
	for i := 0; i < len(memory); i += 4096 {
		memory[i] = 1
	}
	return err
}

// try is what this program tries in a cage, and reports the outcome of each attempt.
func try(trials []string) {
	for i, words := range trials {
		if i > 0 {
			fmt.Println()
		}
		switch said, err := trial(strings.Fields(words)); {
		case err != nil:
			fmt.Print(err)
		case said != "":
			fmt.Print(said)
		default:
			fmt.Print("done")
		}
	}
}

func trial(args []string) (string, error) {
	switch args[0] {
	case "read":
		if info, err := os.Stat(args[1]); err == nil && info.IsDir() {
			_, err := os.ReadDir(args[1])
			return "", err
		}
		f, err := os.Open(args[1])
		if err != nil {
			return "", err
		}
		defer f.Close()
		text := make([]byte, 100)
		n, err := f.Read(text)
		return string(text[:n]), err
	case "privileges":
		header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var data [2]unix.CapUserData
		err := unix.Capget(&header, &data[0])
		nnp, _ := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
		var core unix.Rlimit
		_ = unix.Getrlimit(unix.RLIMIT_CORE, &core)
		return fmt.Sprintf("caps %x %x %x %x nnp %d core %d", data[0].Effective, data[0].Permitted, data[1].Effective, data[1].Permitted, nnp, core.Max), err
	}
	return "", attack(args[0], append(args[1:], "", "")[0], append(args[1:], "", "")[1])
}

func attack(op, arg, second string) error {
	pid, _ := strconv.Atoi(arg)
	switch op {
	case "write":
		return os.WriteFile(arg, []byte("x"), 0o600)
	case "append":
		f, err := os.OpenFile(arg, os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			f.Close()
		}
		return err
	case "truncate":
		return os.Truncate(arg, 0)
	case "open-truncate":
		_, err := unix.Open(arg, unix.O_RDONLY|unix.O_TRUNC, 0)
		return err
	case "remove":
		return os.Remove(arg)
	case "rename-out":
		return os.Rename(arg, "out/renamed")
	case "link-in":
		return os.Link(arg, "out/linked")
	case "mkdir":
		return os.Mkdir(arg, 0o700)
	case "symlink":
		return os.Symlink("/", arg)
	case "fifo":
		return unix.Mkfifo(arg, 0o600)
	case "device":
		return unix.Mknod(arg, unix.S_IFCHR|0o600, 1<<8|3)
	case "socket-file":
		return unix.Mknod(arg, unix.S_IFSOCK|0o600, 0)
	case "dial":
		c, err := net.DialTimeout(arg, second, time.Second)
		if err == nil {
			_, err = c.Write([]byte("x"))
		}
		return err
	case "listen":
		_, err := net.Listen(arg, second)
		return err
	case "socket":
		kind, _ := strconv.Atoi(second)
		_, err := unix.Socket(pid, kind, 0)
		return err
	case "pair":
		_, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		return err
	case "io_uring":
		if _, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, 0, 0); errno != unix.ENOSYS && errno != unix.EPERM {
			return nil
		}
		return fmt.Errorf("io_uring: not implemented")
	case "keys":
		_, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, true)
		return err
	case "pair-of":
		kind, _ := strconv.Atoi(arg)
		_, err := unix.Socketpair(unix.AF_UNIX, kind|unix.SOCK_CLOEXEC, 0)
		return err
	case "datagram": // from a pair of sockets to an address
		kind, _ := strconv.Atoi(arg)
		pair, err := unix.Socketpair(unix.AF_UNIX, kind, 0)
		if err == nil {
			err = unix.Sendto(pair[0], []byte("x"), 0, &unix.SockaddrUnix{Name: second})
		}
		return err
	case "limit":
		return unix.Prlimit(pid, unix.RLIMIT_NICE, &unix.Rlimit{}, nil)
	case "call": // a system call with its arguments
		var n [6]uintptr
		for i, text := range strings.Split(second, ",") {
			v, _ := strconv.ParseInt(text, 10, 64)
			n[i] = uintptr(v)
		}
		var data [64]byte // what a pointer points to: enough for any struct here, of zeroes
		for i := range n {
			if n[i] == zeroes {
				n[i] = uintptr(unsafe.Pointer(&data))
			}
		}
		if _, _, errno := unix.Syscall6(uintptr(pid), n[0], n[1], n[2], n[3], n[4], n[5]); errno != 0 {
			return errno
		}
		return nil
	case "hold":
		return hold(arg)
	case "ptrace":
		return unix.PtraceAttach(pid)
	case "mem":
		_, err := os.OpenFile("/proc/"+arg+"/mem", os.O_RDWR, 0)
		return err
	case "signal":
		return syscall.Kill(pid, syscall.SIGWINCH)
	}
	return fmt.Errorf("no such trial: %s", op)
}
