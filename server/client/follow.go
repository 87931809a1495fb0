package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"net/http"
	"strconv"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/retry"
	"github.com/pawl-run/pawl/internal/web"
)

// Follow yields a run's log after entry after (zero: from the first), existing entries and
// then new ones, until the run has ended; a waiting run has not. Pieces of replies in
// progress and the progress of calls are entries without a Seq, whose event is a [pawl.ModelDelta]
// or a [pawl.ToolProgressed]; they are live only.
//
// Follow reconnects when the connection breaks or falls silent: no entry is missed or
// repeated. After a first connection, the server may be unreachable for the options'
// Patience. When ctx ends, the stream ends at once with the context's cause as its error.
// What a slow reader has not taken stays in the server's log.
func (c *Client) Follow(ctx context.Context, run string, after uint64) iter.Seq2[pawl.Entry, error] {
	return follower{c: c, run: run, last: after}.entries(ctx)
}

// Wait returns the result of a run once it has no owner: it has ended, waits, or has lost
// its owner. If its agent handed over, that is the result of the run that has the conversation.
func (c *Client) Wait(ctx context.Context, run string) (pawl.Result, error) {
	for {
		r, err := c.Watch(ctx, run, 0, nil)
		if n := len(r.Legs); err != nil || n == 0 || r.Legs[n-1] == run {
			return r, err
		}
		run = r.Legs[len(r.Legs)-1]
	}
}

// Watch is [Client.Wait] for a run itself, whatever its agent handed over. It calls show, unless nil, with
// what [Client.Follow] yields until then.
func (c *Client) Watch(ctx context.Context, run string, after uint64, show func(pawl.Entry)) (pawl.Result, error) {
	r, err := c.Run(ctx, run)
	if err != nil {
		return r, err
	}
	rest := func(r pawl.Result) (pawl.Result, error) {
		if show == nil {
			return r, nil
		}
		for e, err := range c.Entries(ctx, run, after) {
			if err != nil {
				return r, err
			}
			show(e)
		}
		return r, nil
	}
	if !driven(r.Status) {
		return rest(r)
	}
	type received struct {
		entry pawl.Entry
		err   error
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	word := make(chan received)
	go func() {
		defer close(word)
		for e, err := range c.Follow(ctx, run, after) {
			select {
			case word <- received{e, err}:
			case <-ctx.Done():
				return
			}
		}
	}()
	for {
		over, looks := false, false
		select {
		case w, more := <-word:
			if w.err != nil {
				return r, w.err
			}
			if more && show != nil {
				show(w.entry)
			}
			after = max(after, w.entry.Seq)
			switch w.entry.Event.(type) {
			case nil: // the stream has ended
				over = true
			case pawl.RunPaused, pawl.RunStopped:
			default:
				continue
			}
		case <-time.After(lookAnyway): // the loss of an owner is not streamed
			looks = true
		case <-ctx.Done():
			return r, context.Cause(ctx)
		}
		now, err := c.Run(ctx, run)
		if _, refused := errors.AsType[*Problem](err); looks && err != nil && !refused && ctx.Err() == nil {
			continue // a server that stops takes no new connection, and still streams how its runs pause
		}
		if r = now; err != nil {
			return r, err
		}
		if !driven(r.Status) {
			return rest(r) // it may have gone on and halted again since the pause that was read
		}
		if over { // the run ended, and was resumed at once
			return c.Watch(ctx, run, after, show)
		}
	}
}

func driven(s pawl.Status) bool { return s == pawl.StatusRunning || s == pawl.StatusQueued }

// lookAnyway is how often a silent run is polled.
const lookAnyway = 5 * time.Second

// errBrokenOff says that the caller stopped reading the stream.
var errBrokenOff = errors.New("broken off")

// follower is one Follow.
type follower struct {
	c       *Client
	run     string
	last    uint64 // the last entry yielded, or the one it began after
	stopped bool   // that entry ended the run
	news    bool   // the current stream had an entry
	gap     bool   // the previous stream had a gap
	at      uint64 // the model call of the latest piece
	said    int    // bytes of its text that were yielded
}

// entries follows from the beginning, however often it is ranged over.
func (f follower) entries(ctx context.Context) iter.Seq2[pawl.Entry, error] {
	return func(yield func(pawl.Entry, error) bool) {
		f := f
		if err := f.follow(ctx, yield); err != nil {
			yield(pawl.Entry{}, err)
		}
	}
}

// follow opens streams until one ends with the run.
func (f *follower) follow(ctx context.Context, yield func(pawl.Entry, error) bool) error {
	n, reached, since := 0, false, time.Now()
	for {
		f.news = false
		open, err := f.stream(ctx, yield)
		switch {
		case errors.Is(err, errBrokenOff):
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		}
		if err == nil && (f.stopped || !f.news) {
			over, err := f.over(ctx)
			if over || err != nil && !passing(err) {
				return err
			}
		}
		if open {
			reached, since = true, time.Now()
		}
		if f.news {
			n = 0
		}
		switch {
		case err == nil:
		case fatal(err):
			return err
		case !reached && (n >= tries-1 || !passing(err)):
			return err
		case time.Since(since) > f.c.options.Patience:
			return fmt.Errorf("following run %s failed: %w", f.run, err)
		}
		if !retry.Wait(ctx, jitter(firstDelay, mostDelay, n)) {
			return context.Cause(ctx)
		}
		n++
	}
}

// over reports whether the run has ended, after a stream that ended cleanly with nothing
// after the end of the run, or with nothing at all.
func (f *follower) over(ctx context.Context) (bool, error) {
	if f.stopped {
		return true, nil
	}
	r, err := f.c.Run(ctx, f.run)
	return err == nil && r.Status.Ended(), err
}

// fatal reports whether an error of a stream would recur.
func fatal(err error) bool {
	if p, ok := errors.AsType[*Problem](err); ok {
		return !passing(p)
	}
	if r, ok := errors.AsType[*ResponseError](err); ok {
		return !passing(r)
	}
	return errors.As(err, new(*contentError))
}

// contentError says that a stream's content is malformed.
type contentError struct{ err error }

func (e *contentError) Error() string { return e.err.Error() }
func (e *contentError) Unwrap() error { return e.err }

// stream opens one stream and yields its entries. open says that the server accepted it;
// the error is nil if it ended cleanly.
func (f *follower) stream(ctx context.Context, yield func(pawl.Entry, error) bool) (open bool, err error) {
	within, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	k := get("v1", "runs", f.run, "events")
	silent := fmt.Errorf("%s %s: the stream was silent for %v", k.method, f.c.shownURL(k), f.c.options.Idle)
	idle := time.AfterFunc(f.c.options.Idle, func() { cancel(silent) })
	defer idle.Stop()
	request, err := f.c.request(within, k)
	if err != nil {
		return false, err
	}
	request.Header.Set("Accept", "text/event-stream")
	request.Header.Set("Accept-Encoding", "identity") // compression would buffer
	request.Header.Set("Cache-Control", "no-cache")
	if f.last > 0 {
		request.Header.Set("Last-Event-ID", strconv.FormatUint(f.last, 10))
	}
	response, err := f.c.http.Do(request)
	if err != nil {
		return false, f.cut(ctx, within, k, err)
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusNoContent { // the run has ended
		return true, nil
	}
	if err := f.check(k, response); err != nil {
		return false, err
	}
	in := web.NewEvents(&alive{response.Body, idle, f.c.options.Idle}, int(f.c.most))
	for {
		data, err := in.Next()
		switch {
		case errors.Is(err, io.EOF):
			return true, nil
		case errors.Is(err, web.ErrEventTooLong):
			return true, &contentError{fmt.Errorf("%s %s: %w: the most is %d MiB", k.method, f.c.shownURL(k), err, f.c.most>>20)}
		case err != nil:
			return true, f.cut(ctx, within, k, err)
		}
		idle.Stop() // the caller's time does not count
		if err := f.take(data, yield); err != nil {
			return true, err
		}
		idle.Reset(f.c.options.Idle)
	}
}

// cut explains an error of the connection.
func (f *follower) cut(ctx, within context.Context, k *call, err error) error {
	if ctx.Err() == nil && within.Err() != nil {
		return context.Cause(within)
	}
	return f.c.broken(ctx, ctx, k, err)
}

// check checks the header of an answer.
func (f *follower) check(k *call, response *http.Response) error {
	if response.StatusCode != http.StatusOK {
		return f.c.refusal(k, response)
	}
	if kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); kind != "text/event-stream" {
		body, _ := io.ReadAll(io.LimitReader(response.Body, mostRefusal)) // whatever arrives
		return f.c.unexpected(k, response, "no stream", body)
	}
	return nil
}

// unsaid cuts from a piece of a reply what was yielded before a reconnect, after which the
// server begins the reply again. It reports whether anything is left.
func (f *follower) unsaid(at uint64, d *pawl.ModelDelta) bool {
	if d.Text == "" || d.Agent != "" {
		return true
	}
	if at != f.at || d.From > f.said {
		f.at, f.said = at, d.From
	}
	d.Text, d.From = d.Text[min(f.said-d.From, len(d.Text)):], f.said
	f.said += len(d.Text)
	return d.Text != ""
}

// take yields the entry of an event, unless it was yielded before.
func (f *follower) take(data []byte, yield func(pawl.Entry, error) bool) error {
	e, err := f.c.entry(f.run, bytes.Clone(data))
	if err != nil {
		return &contentError{err}
	}
	d, piece := e.Event.(pawl.ModelDelta)
	_, progress := e.Event.(pawl.ToolProgressed)
	switch {
	case progress:
	case piece:
		if !f.unsaid(e.At, &d) {
			return nil
		}
		e.Event = d
	case e.Seq == 0:
		return &contentError{fmt.Errorf("run %s: the server sent a %s without a seq", f.run, e.Type())}
	case e.Seq <= f.last:
		return nil
	case e.Seq > f.last+1:
		err := fmt.Errorf("run %s: the server sent entry %d after entry %d", f.run, e.Seq, f.last)
		if f.gap {
			return &contentError{err}
		}
		f.gap = true // reconnect after the last complete entry
		return err
	default:
		f.last, f.news, f.gap = e.Seq, true, false
		_, f.stopped = e.Event.(pawl.RunStopped)
	}
	if !yield(e, nil) {
		return errBrokenOff
	}
	return nil
}

// alive is a stream whose timeout restarts with every byte.
type alive struct {
	io.Reader
	idle  *time.Timer
	after time.Duration
}

func (a *alive) Read(b []byte) (int, error) {
	a.idle.Reset(a.after)
	return a.Reader.Read(b)
}
