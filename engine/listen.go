package engine

import (
	"context"
	"iter"
	"log/slog"
	"time"
)

// A teller is a journal that says when letters have come. Without one, mail is
// found by looking.
type teller interface {
	// WatchLetters yields the ids of runs that have mail, soon after it can be
	// read, until ctx ends; the empty id says that any run may have some. It
	// yields that when it begins, and whenever word may have been lost. After an
	// error, or when it ends by itself, it is asked again later. The engine looks
	// by itself once a second all the same.
	WatchLetters(ctx context.Context) iter.Seq2[string, error]
}

// An ear is one listening to a teller.
type ear struct {
	stop  context.CancelFunc
	hears bool // word has come
}

// deafFor is how long a teller that failed is not asked again. Mail comes by
// the clock meanwhile.
const deafFor = 5 * time.Second

// prick begins to listen if nobody does. It is the attendant who calls it, at
// his first look and not when a run begins: a run that is over before costs the
// teller nothing. The engine's lock is held, and there are live runs.
func (e *Engine) prick(now time.Time) {
	if e.teller == nil || e.mail == nil || e.ear != nil || e.closed || now.Before(e.deaf) {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	one := &ear{stop: stop}
	e.ear = one
	e.ears.Go(func() { e.listen(ctx, one) })
}

// unlisten ends the listening when there are no live runs. The engine's lock is
// held, so it is not waited for; it reads the mail no longer than its context
// lasts, and [Engine.Close] waits.
func (e *Engine) unlisten() {
	if len(e.live) == 0 && e.ear != nil {
		e.ear.stop()
		e.ear = nil
	}
}

// listen brings the live runs their mail as word of it comes.
func (e *Engine) listen(ctx context.Context, one *ear) {
	defer one.stop()
	defer func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.ear == one { // it was not told to end
			e.ear, e.deaf = nil, time.Now().Add(deafFor)
		}
	}()
	for run, err := range e.teller.WatchLetters(ctx) {
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			e.log(slog.LevelWarn, "word of letters comes late: the journal cannot be listened to", "", e.because(err))
			return
		}
		e.mu.Lock()
		one.hears = true
		s, after := e.live[run], e.letters
		e.mu.Unlock()
		switch {
		case run == "":
			e.bring(ctx, after)
		case s != nil:
			_ = s.fetch(ctx) // what cannot be read now is brought at the next look
		}
	}
}
