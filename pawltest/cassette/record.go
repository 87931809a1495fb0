package cassette

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// A recorder passes requests on and keeps what was said.
type recorder struct {
	file    string
	o       *Options
	secrets *secrets
	next    http.RoundTripper

	mu     sync.Mutex
	tape   tape
	errs   []error
	closed bool
}

// RoundTrip sends a request and keeps it. The response is kept as it is read.
func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := readBody(req)
	if err != nil {
		return nil, err
	}
	out := req.Clone(req.Context())
	if req.Body != nil {
		out.Body = io.NopCloser(bytes.NewReader(body))
	}
	// The transport then asks for compression on its own and undoes it: what is
	// compressed cannot be read, neither by people nor for secrets.
	out.Header.Del("Accept-Encoding")
	r.secrets.learn(req)
	if r.o.Edit != nil {
		body = r.o.Edit(body)
	}
	x := &exchange{method: req.Method, url: r.secrets.address(req.URL), header: r.secrets.header(req.Header, r.o.Headers), body: body}
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return nil, errors.New("cassette " + r.file + " is closed; its client may be used until the test ends")
	}
	n := len(r.tape.exchanges)
	r.tape.exchanges = append(r.tape.exchanges, x)
	r.tape.order = append(r.tape.order, mark{n: n})
	r.mu.Unlock()

	t := &tee{r: r, x: x, n: n, req: req, start: time.Now()}
	res, err := r.next.RoundTrip(out)
	if err != nil {
		t.over(failed, err)
		return nil, err
	}
	if enc := res.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		err := fmt.Errorf("cassette %s: the response to request %d is compressed with %s though nothing asked for it, and cannot be recorded", r.file, n+1, enc)
		res.Body.Close()
		r.mu.Lock()
		r.errs = append(r.errs, err)
		r.mu.Unlock()
		t.over(failed, err)
		return nil, err
	}
	r.mu.Lock()
	x.status, x.answered = res.StatusCode, coarse(time.Since(t.start))
	x.answer = r.secrets.answer(res.Header, r.o.Headers)
	r.mu.Unlock()
	t.rc = res.Body
	res.Body = t
	return res, nil
}

func readBody(req *http.Request) ([]byte, error) {
	if req.Body == nil {
		return nil, nil
	}
	defer req.Body.Close()
	return io.ReadAll(req.Body)
}

// A tee is the body of a response that is being read.
type tee struct {
	r     *recorder
	x     *exchange
	n     int
	req   *http.Request
	rc    io.ReadCloser
	start time.Time
}

func (t *tee) Read(p []byte) (int, error) {
	n, err := t.rc.Read(p)
	if n > 0 {
		t.r.mu.Lock()
		at := coarse(time.Since(t.start))
		switch last := len(t.x.pieces) - 1; {
		case t.x.end != "": // a read after Close, which counts for nothing
		case last >= 0 && t.x.pieces[last].at == at:
			t.x.pieces[last].data = append(t.x.pieces[last].data, p[:n]...)
		default:
			t.x.pieces = append(t.x.pieces, piece{at, slices.Clone(p[:n])})
		}
		t.r.mu.Unlock()
	}
	switch {
	case errors.Is(err, io.EOF):
		t.over(ended, nil)
	case err != nil:
		t.over(cut, err)
	}
	return n, err
}

func (t *tee) Close() error {
	t.over(left, nil)
	return t.rc.Close()
}

// over notes how the exchange ended, the first time it does.
func (t *tee) over(e end, reason error) {
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	if t.x.end != "" || t.r.closed {
		return
	}
	if e != ended && t.req.Context().Err() != nil {
		e, reason = cancelled, nil
	}
	t.x.end = e
	if reason != nil {
		t.x.reason = reason.Error()
	}
	t.r.tape.order = append(t.r.tape.order, mark{t.n, true})
}

// close writes the file. What is still being read counts as left there.
func (r *recorder) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	r.closed = true
	if len(r.errs) > 0 {
		return errors.Join(r.errs...)
	}
	if len(r.tape.exchanges) == 0 {
		return fmt.Errorf("cassette %s: nothing was sent, so nothing is recorded", r.file)
	}
	for n, x := range r.tape.exchanges {
		if x.end == "" {
			x.end = left
			r.tape.order = append(r.tape.order, mark{n, true})
		}
		// Only now is every secret known.
		x.url, x.reason = r.secrets.text(x.url), r.secrets.text(x.reason)
		x.body, x.pieces = r.secrets.bytes(x.body), r.secrets.pieces(x.pieces)
		for _, h := range []http.Header{x.header, x.answer} {
			for _, values := range h {
				for i := range values {
					values[i] = r.secrets.text(values[i])
				}
			}
		}
	}
	if err := write(r.file, r.tape.format()); err != nil {
		return fmt.Errorf("cassette: %w", err)
	}
	return nil
}

// write replaces a file whole, so that a recording that fails leaves the old one.
func write(file string, text []byte) error {
	dir := filepath.Dir(file)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".cassette-*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
