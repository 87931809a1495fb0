package server

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/journal/memory"
)

// pipes is a listener whose connections are in memory, where time can be had.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}
func (p pipes) Close() error   { close(p.closed); return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

// TestStreamInTime holds that a silent stream shows that it lives, and that who
// takes nothing for half a minute is let go of.
func TestStreamInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := memory.New()
		lease, err := j.Claim(t.Context(), pawl.Claim{Run: "r", Owner: "me", TTL: time.Hour, New: true})
		must(t, err)
		line, err := pawl.Entry{Run: "r", Seq: 1, Time: time.Unix(1, 0), Event: pawl.Noted{By: "t", Name: "n", Value: []byte(`1`)}}.AppendJSON(nil)
		must(t, err)
		must(t, j.Append(t.Context(), pawl.Batch{Run: "r", Epoch: lease.Epoch, Records: [][]byte{line}, Head: pawl.Head{Run: "r", Status: pawl.StatusRunning}}))
		s := &Server{journal: j, closing: make(chan struct{}), live: func(string) *engine.Handle { return nil }}
		left := make(chan time.Duration, 2)
		p := pipes{make(chan net.Conn), make(chan struct{})}
		web := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			from := time.Now()
			_ = s.stream(&exchange{ResponseWriter: w, Request: r}, "r")
			left <- time.Since(from)
		})}
		go func() { _ = web.Serve(p) }()
		open := func() net.Conn {
			here, there := net.Pipe()
			p.conns <- there
			_, err := here.Write([]byte("GET /r HTTP/1.0\r\nHost: x\r\n\r\n"))
			must(t, err)
			return here
		}
		never := open()
		reads := open()
		beats := make(chan time.Duration)
		go func() {
			from, lines := time.Now(), bufio.NewReader(reads)
			for {
				text, err := lines.ReadString('\n')
				if err != nil {
					close(beats)
					return
				}
				if strings.TrimSpace(text) == ":" {
					beats <- time.Since(from)
				}
			}
		}()
		for i := range 3 {
			if at := <-beats; at != time.Duration(i+1)*heartbeat {
				t.Errorf("beat %d comes after %v", i+1, at)
			}
		}
		if stayed := <-left; stayed != stuckFor {
			t.Errorf("who takes nothing is let go of after %v", stayed)
		}
		_ = never.Close()
		close(s.closing) // as the server ends
		if _, more := <-beats; more {
			t.Error("a stream goes on though the server has ended")
		}
		<-left
		_ = reads.Close()
		_ = web.Shutdown(context.Background())
	})
}
