package house

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-run/pawl/internal/sheet"
)

var (
	// modelName matches the names of models and what looks like them; those of OpenAI's short series
	// only behind the provider or in quotes.
	modelName = regexp.MustCompile(`(?:claude|gpt|chatgpt|gemini)-[a-z0-9][a-z0-9.@-]*|(?:openai/|")o[134](?:-[a-z0-9-]+)?`)
	// release matches what Bedrock appends to a name.
	release = regexp.MustCompile(`-v\d+$`)
)

// unnamed are the directories that may name any model: that of the sheet, whose tests say what it
// has of which, and that of what the providers' SDKs declare.
var unnamed = []string{"internal/sheet", "oracle"}

// vendors are the providers of the sheet.
var vendors = []string{"anthropic", "openai", "google"}

// retired reports whether a model retires within 60 days of the day of the sheet, or has retired.
func retired(name string) bool {
	name = release.ReplaceAllString(name, "")
	return slices.ContainsFunc(vendors, func(vendor string) bool {
		row, listed := sheet.Lookup(vendor, name)
		left, known := row.Until(sheet.AsOf())
		return listed && known && left <= 60*24*time.Hour || !listed && sheet.Retired(vendor, name)
	})
}

// modelsIn lists the names of models in a text.
func modelsIn(text string) (names []string) {
	some := func(part string) bool { return strings.Contains(text, part) } // which is quicker than the pattern
	if !slices.ContainsFunc([]string{"claude-", "gpt-", "gemini-", "openai/o", `"o`}, some) {
		return nil
	}
	for _, name := range modelName.FindAllString(text, -1) {
		name = strings.TrimPrefix(strings.TrimPrefix(name, "openai/"), `"`)
		names = append(names, strings.TrimRight(name, "-.@"))
	}
	return names
}

// No document, example, template or test names a model that its provider retires, so that what a
// user copies works.
func TestNoRetiredModels(t *testing.T) {
	tr := repository(t)
	eachText(t, tr.root, func(file, text string) {
		said := map[string]bool{}
		for _, name := range modelsIn(text) {
			if retired(name) && !said[name] {
				said[name] = true
				t.Errorf("%s names %s, which retires (name %s, %s or %s)", file, name, sheet.Default("anthropic"), sheet.Default("openai"), sheet.Default("google"))
			}
		}
	})
}

// The documents name one model of each provider, so that the next one is quickly written.
func TestOneModelEach(t *testing.T) {
	tr := repository(t)
	for _, file := range tr.files {
		if file != "README.md" && !strings.HasPrefix(file, "docs/") || strings.HasPrefix(file, "docs/decisions/") {
			continue
		}
		for _, name := range modelsIn(tr.read(t, file)) {
			for _, vendor := range vendors {
				if row, listed := sheet.Lookup(vendor, name); listed && row.Name != sheet.Default(vendor) {
					t.Errorf("%s names %s and not %s", file, name, sheet.Default(vendor))
				}
			}
		}
	}
}

// eachText calls a function with every file of text, those of tests too.
func eachText(t *testing.T, root string, do func(file, text string)) {
	t.Helper()
	const longest = 4 << 20
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		switch file := filepath.ToSlash(rel); {
		case d.IsDir() && (slices.Contains([]string{"bin", "dist", ".git"}, file) || slices.Contains(unnamed, file) || d.Name() == "node_modules"):
			return filepath.SkipDir
		case !d.Type().IsRegular():
			return nil
		default:
			text, err := os.ReadFile(path)
			if err == nil && len(text) <= longest && !bytes.ContainsRune(text, 0) {
				do(file, string(text))
			}
			return err
		}
	})
	must(t, err)
}
