// Command pawl-temporal is pawl with Temporal in it. pawl starts it for --on temporal://….
package main

import (
	"context"
	"log/slog"

	"github.com/pawl-run/pawl/cmd/cli"
	"github.com/pawl-run/pawl/temporal"
)

func main() {
	cli.MainOn(nil, func(ctx context.Context, url string, log *slog.Logger) (cli.Dispatch, error) {
		return temporal.Dial(ctx, url, &temporal.DialOptions{Log: log})
	})
}
