// Fakeprovider serves the wires of model providers on this machine and goes
// wrong on demand, for trying out a program against a provider that fails.
//
//	fakeprovider [--addr ADDRESS] [--script FILE] [--fault NAME[@K],…] [--chunk N] [--latency D]
//	fakeprovider --list
//
// It prints the base URLs as environment variables, and one line for each
// request. Without a script it repeats what it was told last. The nth request
// gets the nth fault; "none" stands for none. It ends when interrupted.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/testkit/fakeprovider"
	"github.com/pawl-run/pawl/model/script"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "fakeprovider:", err)
		os.Exit(2)
	}
}

func run(ctx context.Context, args []string, out, usage io.Writer) error {
	flags := flag.NewFlagSet("fakeprovider", flag.ContinueOnError)
	flags.SetOutput(usage)
	addr := flags.String("addr", "127.0.0.1:0", "the `address` to listen on; anything but a loopback address is open to others")
	file := flags.String("script", "", "the `file` of the replies, as for --model script:FILE")
	faults := flags.String("fault", "", "the faults of the first requests: `NAME[@K],…`")
	chunk := flags.Int("chunk", 0, "bytes a write; 0: a whole event")
	latency := flags.Duration("latency", 0, "the wait before the first byte and between events")
	list := flags.Bool("list", false, "list the faults")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%q is not expected; want only flags", flags.Arg(0))
	}
	if *list {
		for _, f := range fakeprovider.Faults() {
			fmt.Fprintf(out, "%-26s %2d  %v  %s\n", f.Name, f.Number, f.Wires, f.About)
		}
		return nil
	}
	o := &fakeprovider.Options{Chunk: *chunk, Latency: *latency}
	for name := range strings.SplitSeq(*faults, ",") {
		if name = strings.TrimSpace(name); name == "" || name == "none" {
			o.Faults = append(o.Faults, fakeprovider.Fault{})
			continue
		}
		f, ok := fakeprovider.Find(name)
		if !ok {
			return fmt.Errorf("there is no fault %q; --list shows them", name)
		}
		o.Faults = append(o.Faults, f)
	}
	var brain pawl.Model = pawl.ModelFunc(echo)
	if *file != "" {
		m, err := script.Load(*file)
		if err != nil {
			return err
		}
		brain = m
	}
	return serve(ctx, *addr, fakeprovider.New(brain, o), out)
}

// echo says again what was said last.
func echo(_ context.Context, r pawl.Request) (pawl.Reply, error) {
	said := ""
	if n := len(r.Messages); n > 0 {
		said = r.Messages[n-1].Text()
		for _, p := range r.Messages[n-1].Parts {
			if result, ok := p.(pawl.ToolResult); ok {
				said += result.Text()
			}
		}
	}
	return pawl.Say("You said: " + said), nil
}

func serve(ctx context.Context, addr string, fake *fakeprovider.Server, out io.Writer) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	base := "http://" + listener.Addr().String()
	fmt.Fprintf(out, "export ANTHROPIC_BASE_URL=%s ANTHROPIC_API_KEY=fake\n", base)
	fmt.Fprintf(out, "export OPENAI_BASE_URL=%s/v1 OPENAI_API_KEY=fake\n", base)
	fmt.Fprintf(out, "export GOOGLE_GEMINI_BASE_URL=%s GEMINI_API_KEY=fake\n", base)
	srv := &http.Server{Handler: &reporter{fake: fake, out: out}, ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() {
		fake.Close()
		srv.Close()
	})
	defer stop()
	if err := srv.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// A reporter reports how each request was answered, in the order of the requests.
type reporter struct {
	fake *fakeprovider.Server
	mu   sync.Mutex
	out  io.Writer
	told int
}

// ServeHTTP hands the request on; an answer may end in a panic, which breaks
// the connection.
func (t *reporter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer t.tell()
	t.fake.ServeHTTP(w, r)
}

func (t *reporter) tell() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range t.fake.Requests()[t.told:] {
		if !r.Decided {
			return
		}
		t.told++
		line := fmt.Sprintf("%d %s %s %s %s", t.told, r.Wire, r.Method, r.Path, r.Model)
		if r.Fault.Name != "" {
			line += " fault=" + r.Fault.String()
			if !r.Struck {
				line += " (found nothing to strike)"
			}
		}
		fmt.Fprintf(t.out, "%s -> %d\n", line, r.Status)
		for _, p := range r.Problems {
			fmt.Fprintf(t.out, "  %s\n", strings.TrimSpace(p))
		}
	}
}
