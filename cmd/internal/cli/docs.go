package cli

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl/cmd/internal/screen"
	"github.com/pawl-run/pawl/docs"
)

func docsCommand(a *app) *cobra.Command {
	c := a.command("docs [PAGE]", "Print a page of the documentation, or list the pages", cobra.MaximumNArgs(1),
		func(_ context.Context, args []string) (int, error) {
			if a.json {
				return 0, misuse("pawl docs prints no JSON; leave out --json")
			}
			if len(args) == 0 {
				return 0, listPages(a)
			}
			return 0, printPage(a, args[0])
		})
	c.Long = `Print a page of the documentation of this version, such as tutorial or howto/slack: as
Markdown, or rendered on a terminal. Without PAGE it lists the pages.`
	c.Example = `  pawl docs
  pawl docs tutorial`
	return c
}

// listPages prints the name and the title of each page.
func listPages(a *app) error {
	names, err := pageNames()
	if err != nil {
		return err
	}
	for _, name := range names {
		text, err := fs.ReadFile(docs.Pages, name+".md")
		if err != nil {
			return err
		}
		title, _, _ := bytes.Cut(bytes.TrimPrefix(text, []byte("# ")), []byte("\n"))
		if _, err := fmt.Fprintf(a.out, "%-24s %s\n", name, title); err != nil {
			return err
		}
	}
	return nil
}

// pageNames lists the pages, in order.
func pageNames() (names []string, err error) {
	err = fs.WalkDir(docs.Pages, ".", func(file string, _ fs.DirEntry, err error) error {
		if name, is := strings.CutSuffix(file, ".md"); is {
			names = append(names, name)
		}
		return err
	})
	return names, err
}

// printPage prints a page.
func printPage(a *app, name string) error {
	name = strings.TrimSuffix(strings.TrimPrefix(name, "docs/"), ".md")
	text, err := fs.ReadFile(docs.Pages, name+".md")
	if err != nil {
		names, err := pageNames()
		if err != nil {
			return err
		}
		return misuse("there is no page %s%s; pawl docs lists the pages", screen.OneLine(name), meant(name, names))
	}
	_, err = a.out.Write(text)
	return err
}
