package cli_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pawl-run/pawl/internal/testkit/check"
	"github.com/pawl-run/pawl/journal/sqlite"

	"github.com/pawl-run/pawl"
)

// A chat is a conversation in a process of its own, whose terminal a test has.
type chat struct {
	*testing.T
	dir             string   // where it takes place
	person, program *os.File // the ends of the terminal
	seen            *check.Log
	past            int // how much of it was looked at
	cmd             *exec.Cmd
}

// newChat makes a terminal for conversations in a directory.
func newChat(t *testing.T, dir string) *chat {
	t.Helper()
	person, program := terminal(t)
	c := &chat{T: t, dir: dir, person: person, program: program, seen: &check.Log{}}
	go func() { _, _ = io.Copy(c.seen, person) }() // until the terminal is closed
	return c
}

// talk begins a conversation.
func talk(t *testing.T, dir string, args ...string) *chat {
	t.Helper()
	c := newChat(t, dir)
	c.begin(&syscall.SysProcAttr{Setsid: true, Setctty: true}, args...)
	return c
}

// begin begins a conversation on the terminal, which sends it signals if the conversation has a session.
func (c *chat) begin(attr *syscall.SysProcAttr, args ...string) {
	c.Helper()
	cmd := exec.Command("spawl", append([]string{"chat"}, args...)...)
	cmd.Dir, cmd.Env = c.dir, append(os.Environ(), "PAWL_DATABASE=sqlite:runs.db", "NO_COLOR=1", "TERM=xterm")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.program, c.program, c.program
	cmd.SysProcAttr = attr
	must(c, cmd.Start())
	c.Cleanup(func() { _ = cmd.Process.Kill() })
	c.cmd = cmd
}

// sees waits until the terminal shows a text after what it has shown before.
func (c *chat) sees(text string) {
	c.Helper()
	at := -1
	if !soon(func() bool { at = strings.Index(c.seen.String()[c.past:], text); return at >= 0 }) {
		c.Fatalf("it does not show %q:\n%s", text, c.seen.String()[c.past:])
	}
	c.past += at + len(text)
}

// types waits for a prompt and types.
func (c *chat) types(prompt, keys string) {
	c.Helper()
	c.sees(prompt)
	time.Sleep(50 * time.Millisecond) // what is typed before a question is no answer to it
	if _, err := c.person.WriteString(keys); err != nil {
		c.Fatal(err)
	}
}

func (c *chat) ends(code int) {
	c.Helper()
	if err := c.cmd.Wait(); c.cmd.ProcessState.ExitCode() != code {
		c.Errorf("exit %d (%v), want %d:\n%s", c.cmd.ProcessState.ExitCode(), err, code, c.seen)
	}
}

var planned = map[string]string{
	"desk.yaml": `name: desk
model: script:desk.script.yaml
tools:
  - {name: look, description: Look., command: [echo, blue], effect: read}
  - {name: write, description: Write., command: [sh, -c, 'echo ran >> wrote.txt']}
`,
	"desk.script.yaml": `replies:
  - {text: "I am **glad** 日本語."}
  - {calls: [{tool: look}, {tool: write}]}
  - {calls: [{tool: present_plan, args: {plan: "1. write\n2. stop"}}]}
  - {calls: [{tool: write}]}
  - {text: "It is \e[31mwritten\a."}
  - {text: "word by word by word by word by word by word", chunks: 12, delay: 3s}
`,
}

// A conversation has a planned message, an answer that is stopped, and what was
// said undone; the log has all of it.
func TestChat(t *testing.T) {
	t.Parallel()
	dir := folder(t, planned)
	c := talk(t, dir, "desk.yaml")
	c.types("> ", "hello\r")
	c.sees("I am **glad** 日本語.")
	c.types("> ", "/plan\r")
	c.types("plan> ", "write it\r")
	c.sees("only tools that read run until a person has approved a plan")
	c.sees("    1. write\r\n    2. stop\r\n")
	c.types("? ", "y\r")
	c.sees("It is \uFFFD[31mwritten\uFFFD.")
	if n := effects(t, filepath.Join(dir, "wrote.txt")); n != 1 {
		t.Errorf("it wrote %d times", n)
	}
	c.types("> ", "talk\r")
	c.types("word by", "\x03")
	c.sees("stopped; ")
	c.types("> ", "/undo\r")
	c.sees("undone: talk")
	c.types("> ", "/cost\r")
	c.sees("this conversation: 2 messages, ")
	c.types("> ", "/undoo\r")
	c.sees("there is no command /undoo; /help lists the commands")
	c.types("> ", "/model foo/bar\r")
	c.sees("pawl: /model: ")
	c.types("> ", "/model low high\r")
	c.sees("/model takes a name, an effort, or one of each")
	c.types("> ", "/model low\r")
	c.sees(", effort low")
	c.types("> ", "/model\r")
	c.sees(", effort low; /model PROVIDER/NAME changes it")
	c.types("> ", "\x04")
	c.ends(0)
	c = talk(t, dir, "-c") // what was undone stays undone
	c.sees("you: write it")
	c.types("> ", "and \\\r")
	c.types("… ", "now?\r")
	c.sees("word by word by word by word by word by word")
	c.types("> ", "\x03")
	c.types("> ", "\x03")
	c.ends(0)

	j, err := sqlite.Open(t.Context(), filepath.Join(dir, "runs.db"), nil)
	must(t, err)
	defer func() { _ = j.Close() }()
	threads := map[string]int{}
	for h, err := range j.List(t.Context(), pawl.Query{}) {
		must(t, err)
		threads[h.Thread]++
	}
	if len(threads) != 2 {
		t.Errorf("the threads are %v, want three runs in the one and one in that which branches off", threads)
	}
}

// A conversation whose process is killed while it answers goes on, and leaves the terminal as it was before.
func TestChatGoesOn(t *testing.T) {
	t.Parallel()
	c := newChat(t, folder(t, map[string]string{"desk.yaml": "name: desk\nmodel: script:desk.script.yaml\n", "desk.script.yaml": `replies:
  - {text: word by word by word by word by word by word, chunks: 12, delay: 4s}
  - {text: Still here.}
`}))
	was, err := unix.IoctlGetTermios(int(c.program.Fd()), unix.TCGETS)
	must(t, err)
	c.begin(nil, "desk.yaml")
	c.types("> ", "hello\r")
	c.sees("word by")
	must(t, c.cmd.Process.Kill())
	_ = c.cmd.Wait() // it was killed
	c.begin(nil, "-c")
	c.sees("you: hello")
	past := c.past
	c.types("word by", "you?") // which the answer does not show
	c.past = past
	c.sees("word by word by word by word by word by word")
	c.types("you?", "\r")
	c.sees("Still here.")
	c.types("> ", "/undo\r")
	c.types("> ", "/undo\r")
	c.types("> ", "\x04")
	c.ends(0)
	if now, err := unix.IoctlGetTermios(int(c.program.Fd()), unix.TCGETS); err != nil || *now != *was {
		t.Errorf("the terminal is left in mode %+v, %v, want %+v", now, err, was)
	}
	raw := *was // as a chat that is killed at its prompt leaves it
	raw.Lflag &^= unix.ICANON | unix.ECHO | unix.ISIG | unix.IEXTEN
	raw.Oflag &^= unix.OPOST
	must(t, unix.IoctlSetTermios(int(c.program.Fd()), unix.TCSETS, &raw))
	c.begin(nil, "-c") // with the same agent, although no message is left
	c.sees("it begins again")
	c.sees("desk: script/desk.script.yaml")
	c.types("> ", "\x04")
	c.ends(0)
	if now, err := unix.IoctlGetTermios(int(c.program.Fd()), unix.TCGETS); err != nil || now.Lflag != was.Lflag || now.Oflag != was.Oflag {
		t.Errorf("the terminal is left in mode %+v, %v, want %+v", now, err, was)
	}
}
