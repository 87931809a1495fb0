package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl/cmd/internal/site"
	"github.com/pawl-run/pawl/docs"
)

func docsCommand(a *app) *cobra.Command {
	var address, out string
	c := a.command("docs [PAGE] [flags]", "Serve the documentation of this version in a browser, or print a page", cobra.MaximumNArgs(1),
		func(ctx context.Context, args []string) (int, error) {
			if a.json {
				return 0, misuse("pawl docs prints no JSON; leave out --json")
			}
			if len(args) > 0 {
				return 0, printPage(a, args[0])
			}
			pages, err := site.New(docs.Pages)
			switch {
			case err != nil:
				return 0, err
			case out != "":
				return 0, refused(pages.Write(out))
			}
			return 0, serveDocs(ctx, a, pages, address)
		})
	c.Long = `Serve the documentation of this version on this machine, with a search, until
Ctrl-C. The command needs no network. With PAGE, such as tutorial or howto/slack, it
prints that page as Markdown instead; with a directory, such as howto, it lists the
pages in it.`
	c.Example = `  pawl docs
  pawl docs tutorial
  pawl docs --out public   # a static site, for any web server`
	c.Flags().StringVar(&address, "addr", "127.0.0.1:0", "where to listen, on this machine; port 0 selects a free port, which is printed")
	c.Flags().StringVar(&out, "out", "", "write the site into this directory instead")
	c.MarkFlagsMutuallyExclusive("addr", "out")
	return c
}

// printPage prints a page as it was written, or lists the pages in a directory.
func printPage(a *app, name string) error {
	name = strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(name, "docs/"), "/"), ".md")
	if text, err := fs.ReadFile(docs.Pages, name+".md"); err == nil {
		_, err = a.out.Write(text)
		return err
	}
	below, err := fs.Glob(docs.Pages, path.Clean(name)+"/*.md") // the error says that the pattern is malformed
	if err != nil || len(below) == 0 {
		return misuse("there is no page %s; pawl docs README lists the pages", oneLine(name))
	}
	for _, page := range below {
		if _, err := fmt.Fprintln(a.out, "pawl docs "+strings.TrimSuffix(page, ".md")); err != nil {
			return err
		}
	}
	return nil
}

// serveDocs serves the site until ctx ends.
func serveDocs(ctx context.Context, a *app, pages http.Handler, address string) error {
	if !near(address) {
		return misuse("--addr is %q; write an address of this machine with a port, such as 127.0.0.1:8081", address)
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return refused(err)
	}
	if _, err := fmt.Fprintf(a.out, "http://%s/\n", l.Addr()); err != nil {
		return errors.Join(err, l.Close())
	}
	s := &http.Server{Handler: pages, ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { _ = s.Close() })
	defer stop()
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
