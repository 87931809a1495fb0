package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"regexp"
	"slices"
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
prints that page as Markdown instead; with a directory, such as howto or decisions,
it lists the pages in it.`
	c.Example = `  pawl docs
  pawl docs tutorial
  pawl docs --out public   # a static site, for any web server`
	c.Flags().StringVar(&address, "addr", "127.0.0.1:0", "where to listen, on this machine; port 0 selects a free port, which is printed")
	c.Flags().StringVar(&out, "out", "", "write the site into this directory instead")
	c.MarkFlagsMutuallyExclusive("addr", "out")
	return c
}

// printPage prints a page as it was written.
func printPage(con *app, name string) error {
	name = strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(name, "docs/"), "/"), ".md")
	var names, about []string
	heading, err := regexp.Compile(`(?im)^#.*\b` + regexp.QuoteMeta(name) + `\b`)
	if err != nil {
		return err
	}
	err = fs.WalkDir(docs.Pages, ".", func(file string, _ fs.DirEntry, err error) error {
		page, ok := strings.CutSuffix(file, ".md")
		if !ok || err != nil {
			return err
		}
		names = append(names, page)
		text, err := fs.ReadFile(docs.Pages, file)
		if heading.Match(text) {
			about = append(about, page)
		}
		return err
	})
	if err != nil {
		return err
	}
	if below := slices.DeleteFunc(slices.Clone(names), func(page string) bool { return !strings.HasPrefix(page, name+"/") }); len(below) > 0 {
		_, err := fmt.Fprintf(con.out, "pawl docs %s\n", strings.Join(below, "\npawl docs "))
		return err
	}
	inFolder := slices.IndexFunc(names, func(page string) bool { return strings.HasSuffix(page, "/"+name) })
	switch {
	case slices.Contains(names, name):
	case inFolder >= 0:
		name = names[inFolder]
	case len(about) > 0:
		return misuse("there is no page %s; pages with it in a heading: pawl docs %s", oneLine(name), strings.Join(about, ", pawl docs "))
	default:
		return misuse("there is no page %s%s; pawl docs README lists the pages", oneLine(name), meant(name, names))
	}
	text, err := fs.ReadFile(docs.Pages, name+".md")
	if err != nil {
		return err
	}
	_, err = con.out.Write(text)
	return err
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
