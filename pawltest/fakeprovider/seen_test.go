package fakeprovider

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/cockroachdb/datadriven"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/model/script"
)

// The transcripts show what a client sees. The commands are
//
//	answer [stop=REASON] [whole]  a reply with all that a reply may have, or one that stopped for a reason
//	fault NAME                    what the fault does to that reply
//	send PATH                     a request by hand, and how it is answered
//
// Each of the first two asks on every wire.
func TestSeen(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector sees the same servers and faults in TestFaults: -short")
	}
	faults := map[string]bool{}
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		if strings.Contains(path, "fuzz") {
			return
		}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "answer":
				return answers(t, d)
			case "fault":
				f := Must(d.CmdArgs[0].String())
				faults[f.Name] = true
				return struck(t, f)
			case "send":
				return sent(t, d.CmdArgs[0].String(), d.Input)
			}
			d.Fatalf(t, "there is no command %s", d.Cmd)
			return ""
		})
	})
	for _, f := range Faults() {
		if !faults[f.Name] {
			t.Errorf("what does %s look like?", f.Name)
		}
	}
}

// answers are the bodies of one reply, on every wire.
func answers(t *testing.T, d *datadriven.TestData) string {
	reply := lookup()
	if stop := ""; d.MaybeScanArgs(t, "stop", &stop) {
		reply = pawl.Say("Well.")
		if err := reply.Stop.UnmarshalText([]byte(stop)); err != nil {
			t.Fatal(err)
		}
	}
	var b strings.Builder
	for w := Anthropic; w <= Google; w++ {
		_, url := serve(t, script.Replies(reply), nil)
		path, body := paths[w], bodies[w]
		if d.HasArg("whole") {
			path, body = unstreamed(w)
		}
		res, text := send(t, url, path, body)
		fmt.Fprintf(&b, "%v: %d %s\n%s\n", w, res.StatusCode, res.Header.Get("Content-Type"), indented(created.ReplaceAllString(text, "")))
	}
	return b.String()
}

// pings are as many as came before the client gave up.
var pings = regexp.MustCompile(`((event: ping\ndata: [^\n]*|: keep-alive)(\n\n|\r\n\r\n)?){3,}`)

// struck is what a fault does on every wire where it can occur: the status, how the
// answer ended, and where its body differs from that of a sound one.
func struck(t *testing.T, f Fault) string {
	if f.Number < 1 || f.Number > 69 || !strings.HasSuffix(f.About, ".") || len(f.Wires) == 0 {
		t.Errorf("%+v is not described", f)
	}
	saw := make([]string, len(f.Wires))
	var all sync.WaitGroup
	for i, w := range f.Wires {
		_, good := serve(t, script.Replies(lookup()), nil)
		fake, url := serve(t, script.Replies(lookup()), &Options{Faults: []Fault{f}})
		c := newClient(t)
		all.Go(func() {
			got, sound := look(t, c, url, w, f), look(t, c, good, w, Fault{})
			if late := strings.HasPrefix(f.Name, "late"); late && got.took < 100*time.Millisecond {
				t.Errorf("%v took %v", f, got.took)
			}
			got.body = pings.ReplaceAllString(got.body, "pings\n\n")
			saw[i] = fmt.Sprintf("%v: %s\n%s", w, got.manner(), indented(difference(sound.body, got.body)))
			r := fake.Requests()[0]
			if !r.Struck && f.Name != "stale-connection" || !r.Decided || r.Status != got.status || r.Fault.Name != f.Name {
				t.Errorf("%v is recorded as %v, struck %v, decided %v, status %d", f, r.Fault, r.Struck, r.Decided, r.Status)
			}
			if again := look(t, c, url, w, Fault{}); again.body == "" == (f.Name != "stale-connection") {
				t.Errorf("after %v the next request gets %d, %v: %s", f, again.status, again.err, again.body)
			}
		})
	}
	all.Wait()
	return strings.Join(saw, "")
}

// manner is everything about an answer but its body.
func (s sight) manner() string {
	var list []string
	if s.status != 0 {
		list = append(list, fmt.Sprint(s.status))
	}
	for _, h := range []string{"Content-Type", "Content-Encoding", "Retry-After", "Retry-After-Ms"} {
		v := s.header.Get(h)
		date, err := http.ParseTime(s.header.Get("Date"))
		if at, err2 := http.ParseTime(v); err == nil && err2 == nil {
			v = fmt.Sprintf("%v after a Date of %v ago", at.Sub(date), time.Since(date).Round(10*time.Minute))
		}
		usual := map[bool]string{true: "text/event-stream; charset=utf-8", false: "application/json"}[s.status == http.StatusOK]
		if v != "" && v != usual {
			list = append(list, h+": "+v)
		}
	}
	switch {
	case s.hung:
		list = append(list, "never ends")
	case s.err != nil:
		list = append(list, "breaks off")
	}
	return strings.Join(list, ", ")
}

// difference is where a body differs from the sound one, with a few bytes around it.
func difference(sound, body string) string {
	switch {
	case body == "":
		return ""
	case body == sound:
		return "as the sound one"
	case !strings.Contains(body, "data: ") || body[0] == '{':
		return body
	case sound[:min(len(sound), len(body))] == body:
		return "the sound one as far as " + brief(body[max(0, len(body)-80):])
	}
	same := 0
	for same < min(len(sound), len(body)) && sound[same] == body[same] {
		same++
	}
	end := 0
	for end < min(len(sound), len(body))-same && sound[len(sound)-1-end] == body[len(body)-1-end] {
		end++
	}
	around := func(s string) string { return brief(s[max(0, same-40):min(len(s), len(s)-end+20)]) }
	return "- " + around(sound) + "\n+ " + around(body)
}

// brief quotes a text, of a long one the beginning and the end.
func brief(s string) string {
	const half = 150
	if len(s) > 2*half+20 {
		s = s[:half] + fmt.Sprintf(" …%d bytes… ", len(s)-2*half) + s[len(s)-half:]
	}
	if utf8.ValidString(s) && !strings.ContainsAny(s, "\r\x00\ufeff") {
		return "`" + strings.ReplaceAll(s, "\n", "⏎") + "`"
	}
	return fmt.Sprintf("%q", s)
}

func indented(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		if line = strings.TrimRight(line, " \r\n"); line != "" {
			b.WriteString("  " + line + "\n")
		}
	}
	return b.String()
}

// sent is how a request by hand is answered: refused with the words of the provider,
// or taken. What is refused must be recorded so.
func sent(t *testing.T, path, body string) string {
	body = strings.NewReplacer(`\xff`, "\xff").Replace(body)
	fake, url := serve(t, script.Replies(pawl.Say("Fine."), pawl.Say("Fine."), pawl.Say("Fine.")), nil)
	res, text := send(t, url, path, body)
	r := fake.Requests()[0]
	if res.StatusCode == http.StatusOK {
		return "taken"
	}
	if len(r.Problems) == 0 || r.Status != res.StatusCode || !strings.Contains(text, `"error":{`) {
		t.Errorf("%s is recorded with %d, %q", body, r.Status, r.Problems)
	}
	return fmt.Sprintf("%d %s", res.StatusCode, strings.Join(r.Problems, "\n"))
}
