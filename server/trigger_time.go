package server

import (
	"cmp"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pawl-run/pawl"
	"github.com/pawl-run/pawl/internal/retry"
	"github.com/pawl-run/pawl/internal/wire"
)

const (
	lateAfter  = time.Minute     // a time that passed so long ago was missed
	fireAgain  = 5 * time.Second // after a failure
	watchEvery = 2 * time.Second
	mostFile   = 1 << 20 // bytes of a file that become an input
)

// tick starts a run at each time of a schedule. The key has the time, so of several servers one
// starts it.
func (s *Server) tick(ctx context.Context, t *trigger) {
	last := time.Now()
	if t.MakeUp {
		last = s.lastFired(ctx, t, last)
	}
	for {
		next := t.cron.Next(last)
		for wait := time.Until(next); wait > 0; wait = time.Until(next) { // in short steps: the clock may be set, and the machine sleep
			if !retry.Wait(ctx, min(wait, 30*time.Second)) {
				return
			}
		}
		now := time.Now()
		for later := t.cron.Next(next); !later.After(now); later = t.cron.Next(next) {
			next = later // of several times that were missed the last one counts
		}
		last = next
		if now.Sub(next) > lateAfter && !t.MakeUp {
			s.log.Warn("a trigger was missed", slog.String("trigger", t.name), slog.Time("at", next))
			continue
		}
		at := next.UTC().Format(time.RFC3339)
		for s.failed(ctx, t, at, fill(t.Input, map[string]any{"time": at})) && time.Now().Before(t.cron.Next(next)) {
			if !retry.Wait(ctx, fireAgain) {
				return
			}
		}
	}
}

// failed starts the run of a time or file, and reports whether that failed.
func (s *Server) failed(ctx context.Context, t *trigger, of, input string) bool {
	_, _, err := s.fire(ctx, t, t.own([]byte(of)), input)
	if err != nil && ctx.Err() == nil {
		s.log.Error("a trigger cannot start its run", slog.String("trigger", t.name), slog.Any("error", err))
	}
	return err != nil
}

// lastFired is when the trigger last started a run; now if it never has.
func (s *Server) lastFired(ctx context.Context, t *trigger, now time.Time) time.Time {
	for h, err := range s.journal.List(ctx, pawl.Query{Agent: t.Agent, Labels: map[string]string{"trigger": t.name}, Max: 1}) {
		if err == nil && h.Created.Before(now) {
			return h.Created
		}
	}
	return now
}

// A sighting is how a file looked.
type sighting struct {
	size    int64
	changed time.Time
}

// watch starts a run for each file of a folder that has stopped changing.
func (s *Server) watch(ctx context.Context, t *trigger) {
	seen, done := map[string]sighting{}, map[string]sighting{}
	missing := false
	for {
		files, err := os.ReadDir(t.Watch)
		if err != nil && !missing {
			s.log.Error("a folder that is watched cannot be read", slog.String("trigger", t.name), slog.Any("error", err))
		}
		missing = err != nil
		now := map[string]sighting{}
		for _, f := range files {
			info, err := f.Info()
			if err != nil || !info.Mode().IsRegular() || strings.HasPrefix(f.Name(), ".") {
				continue
			}
			is := sighting{info.Size(), info.ModTime()}
			now[f.Name()] = is
			if done[f.Name()] != is && seen[f.Name()] == is && s.take(ctx, t, f.Name()) {
				done[f.Name()] = is
			}
		}
		if seen = now; !retry.Wait(ctx, watchEvery) {
			return
		}
	}
}

// take starts the run of a file, and reports whether that is done.
func (s *Server) take(ctx context.Context, t *trigger, name string) bool {
	path := filepath.Join(t.Watch, name)
	data, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	text := string(wire.Unmarked(data))
	if len(data) > mostFile || !utf8.Valid(data) {
		text = ""
	}
	file := map[string]any{"name": name, "path": path, "text": text}
	input := fill(cmp.Or(t.Input, "{{file.name}}:\n\n{{file.text}}"), map[string]any{"file": file})
	return !s.failed(ctx, t, name+"\x00"+string(data), input)
}
