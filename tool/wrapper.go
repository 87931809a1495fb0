package tool

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/pawl-run/pawl/internal/process"
)

// A request is what a wrapper reads. It does not depend on the process that wrote it from then on.
type request struct {
	Job     job
	Dir     process.CallDir
	Attempt process.Attempt
	Timeout time.Duration
}

const (
	// shortest is the grace of a command when its wrapper is told to end: less than the
	// wrapper's own when a user is impatient.
	shortest  = 30 * time.Millisecond
	stopEvery = 20 * time.Millisecond // how often a wrapper looks for a request to end the command
)

// wrap runs one command. It records the command before it starts and after it has ended. The end of
// out says that the file has the outcome. If nothing was started, out says why, else it has the lines of
// progress.
func wrap(in io.Reader, out io.WriteCloser) {
	signals := make(chan os.Signal, 8)
	// Hangups are caught and not ignored: the command would inherit an ignored signal.
	// Neither must the wrapper die when nobody reads its lines of progress any more.
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGPIPE)
	var ask request
	if json.NewDecoder(in).Decode(&ask) != nil {
		return // the asking process died before its request was complete
	}
	file, err := ask.Dir.Begin(ask.Attempt, ask.Timeout)
	if err != nil {
		_, _ = io.WriteString(out, err.Error())
		return
	}
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	ctx, cancel := context.WithTimeout(ctx, ask.Timeout)
	defer cancel()
	started := make(chan process.Identity, 1)
	go watchForStop(ctx, file, signals, stop, started)
	relay := newRelay(out)
	told := process.WithReporter(ctx, func(fraction float64, text string) { relay.pass(process.ProgressLine(fraction, text)) })
	outcome := ask.Job.perform(told, func(pid int) {
		id, err := process.Identify(pid)
		if err == nil {
			_ = file.Running(id) // without it only this process could end the command
		}
		started <- id
	})
	relay.close()
	_ = file.End(outcome) // without it the outcome is unknown
	// The caller does not wait until the disk has the outcome: it makes the outcome durable in the
	// log. Another process finds the file unless the machine is lost.
	_ = out.Close()
	_ = file.Close()
}

// watchForStop ends the command when another process wants it, or at once when the wrapper is told to end.
func watchForStop(ctx context.Context, file *process.CallFile, signals <-chan os.Signal, stop context.CancelCauseFunc, started <-chan process.Identity) {
	look := time.NewTicker(stopEvery)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
			switch file.StopRequested() {
			case process.Late:
				stop(context.DeadlineExceeded)
			case process.Stopped:
				stop(context.Canceled)
			}
		case sig := <-signals:
			if sig == syscall.SIGTERM {
				stop(context.Canceled)
				_ = (<-started).End(shortest) // only the kernel can end what survives SIGKILL
			}
		}
	}
}
