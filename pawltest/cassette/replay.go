package cassette

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-run/pawl/internal/canon"
)

// A player answers from a tape.
type player struct {
	file    string
	o       *Options
	secrets *secrets
	tape    *tape

	mu   sync.Mutex
	used []bool
	errs []error
}

// RoundTrip answers with what the same request was answered when it was recorded.
func (p *player) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := readBody(req)
	if err != nil {
		return nil, err
	}
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	p.secrets.learn(req)
	if p.o.Edit != nil {
		body = p.o.Edit(body)
	}
	got := canonical(req.Method, p.secrets.address(req.URL), p.secrets.bytes(body))
	x, err := p.find(got)
	if err != nil {
		return refuse(req, err), nil
	}
	return x.play(req, p.o.Paced)
}

// find takes the exchange of a request off the tape.
func (p *player) find(got string) (*exchange, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	turn := p.turn()
	for _, n := range turn {
		if x := p.tape.exchanges[n]; canonical(x.method, x.url, x.body) == got {
			p.used[n] = true
			return x, nil
		}
	}
	err := fmt.Errorf("cassette %s: all its %d exchanges are used up", p.file, len(p.used))
	diff := "\n" + got
	if len(turn) > 0 {
		x := p.tape.exchanges[turn[0]]
		err = fmt.Errorf("cassette %s: the request differs from request %d as it was recorded", p.file, turn[0]+1)
		diff = "(- recorded, + sent):\n" + cmp.Diff(canonical(x.method, x.url, x.body), got)
	}
	// What follows the first difference mostly follows from it.
	if len(p.errs) == 0 {
		p.errs = append(p.errs, fmt.Errorf("%w; if that is as it should be, set %s=1 to record it again %s", err, Variable, diff))
	}
	return nil, err
}

// turn lists the exchanges whose turn it is: those not yet used that, when they
// were recorded, began before the end of the first such one.
func (p *player) turn() []int {
	var list []int
	for _, m := range p.tape.order {
		switch {
		case p.used[m.n]:
		case !m.response:
			list = append(list, m.n)
		case !p.o.AnyOrder:
			return list
		}
	}
	return list
}

// canonical is a request in the form that is compared.
func canonical(method, url string, body []byte) string {
	if same, err := canon.Canonical(nil, body); err == nil {
		body = same
	}
	if pretty := indent(body); pretty != nil {
		body = pretty
	}
	return method + " " + url + "\n\n" + string(body) + "\n"
}

// refuse is the answer to a request that is not on the tape. An error would be
// taken for one of the network and the request sent again.
func refuse(req *http.Request, err error) *http.Response {
	x := &exchange{status: http.StatusBadRequest, answer: http.Header{"Content-Type": {"text/plain; charset=utf-8"}}, end: ended}
	x.pieces = []piece{{data: []byte(err.Error() + "\n")}}
	return x.response(req, false)
}

func (x *exchange) play(req *http.Request, paced bool) (*http.Response, error) {
	if x.status > 0 {
		if paced && !sleep(req.Context(), nil, x.answered) {
			return nil, req.Context().Err()
		}
		return x.response(req, paced), nil
	}
	if x.end == cancelled {
		<-req.Context().Done()
		return nil, req.Context().Err()
	}
	return nil, errors.New(x.reason)
}

func (x *exchange) response(req *http.Request, paced bool) *http.Response {
	return &http.Response{
		Status: fmt.Sprintf("%d %s", x.status, http.StatusText(x.status)), StatusCode: x.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: x.answer.Clone(), ContentLength: -1, Request: req,
		Body: &playback{ctx: req.Context(), x: x, at: x.answered, paced: paced, closed: make(chan struct{})},
	}
}

// A playback is the body of a response from the tape. Each read gives one piece
// at most, as it came.
type playback struct {
	ctx    context.Context
	x      *exchange
	i      int           // the next piece
	rest   []byte        // of the one before
	at     time.Duration // when that came
	paced  bool
	once   sync.Once
	closed chan struct{}
}

func (b *playback) Read(p []byte) (int, error) {
	select {
	case <-b.closed:
		return 0, http.ErrBodyReadAfterClose
	default:
	}
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	if len(b.rest) == 0 && b.i < len(b.x.pieces) {
		next := b.x.pieces[b.i]
		if b.paced && !sleep(b.ctx, b.closed, next.at-b.at) {
			return 0, b.interrupted()
		}
		b.i, b.rest, b.at = b.i+1, next.data, next.at
	}
	if len(b.rest) > 0 {
		n := copy(p, b.rest)
		b.rest = b.rest[n:]
		return n, nil
	}
	switch b.x.end {
	case cut:
		if strings.Contains(b.x.reason, io.ErrUnexpectedEOF.Error()) {
			return 0, io.ErrUnexpectedEOF // which adapters tell from other errors
		}
		return 0, errors.New(b.x.reason)
	case left:
		return 0, errors.New("cassette: the recording ends here, because its client read no further")
	case cancelled:
		select {
		case <-b.ctx.Done():
		case <-b.closed:
		}
		return 0, b.interrupted()
	}
	return 0, io.EOF
}

func (b *playback) interrupted() error {
	if err := b.ctx.Err(); err != nil {
		return err
	}
	return http.ErrBodyReadAfterClose
}

func (b *playback) Close() error {
	b.once.Do(func() { close(b.closed) })
	return nil
}

// sleep waits, and reports whether it was let.
func sleep(ctx context.Context, stop <-chan struct{}, d time.Duration) bool {
	t := time.NewTimer(max(0, d))
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
	case <-stop:
	}
	return false
}

// close reports what differed, or else what was not asked for.
func (p *player) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.errs) > 0 {
		return errors.Join(p.errs...)
	}
	n := slices.Index(p.used, false)
	if n < 0 {
		return nil
	}
	over := len(slices.DeleteFunc(slices.Clone(p.used), func(used bool) bool { return used }))
	x := p.tape.exchanges[n]
	return fmt.Errorf("cassette %s: %d of %d exchanges were not asked for, the first of them request %d, %s %s; if that is as it should be, set %s=1 to record it again",
		p.file, over, len(p.used), n+1, x.method, x.url, Variable)
}
