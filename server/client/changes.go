package client

import (
	"context"
	"iter"

	"github.com/pawl-run/pawl"
)

// Changes returns a channel that gets a token when the log of a run may have grown, until ctx ends.
// Look at the log every now and then as well: a notification is lost if its sender dies, and a
// journal may not notify at all.
func Changes(ctx context.Context, j pawl.Journal, run string) <-chan struct{} {
	var news iter.Seq2[string, error]
	switch j := j.(type) {
	case interface {
		WatchLogs(ctx context.Context) iter.Seq2[string, error]
	}:
		news = j.WatchLogs(ctx)
	case *Journal:
		news = j.WatchLog(ctx, run)
	default:
		return nil
	}
	word := make(chan struct{}, 1)
	go func() {
		for about, err := range news {
			if err != nil {
				return // looking now and then is enough
			}
			if about == run || about == "" {
				select {
				case word <- struct{}{}:
				default:
				}
			}
		}
	}()
	return word
}
