package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/pawl-run/pawl/cmd/internal/screen"
	"github.com/pawl-run/pawl/engine"
	"github.com/pawl-run/pawl/internal/display"
	"github.com/pawl-run/pawl/internal/wire"
)

// asking holds the options of pawl ask.
type asking struct {
	driving
	files  []string
	attach []string
	schema string
	read   bool
	thread string
}

func askCommand(a *app) *cobra.Command {
	o := &asking{}
	c := a.command("ask [TEXT] [flags]", "Ask a model one question; standard input and files are context", nil, func(ctx context.Context, args []string) (int, error) {
		code, err := ask(ctx, a, o, args)
		return code, ofAttach(err)
	})
	c.Args = func(_ *cobra.Command, args []string) error {
		if len(args) > 1 {
			return fmt.Errorf("ask takes one text; put it in quotes: pawl ask %q", strings.Join(args, " "))
		}
		return nil
	}
	c.Long = `Ask a model one question and print the answer. Standard input and the text files named
with -f are its context. Pictures, PDFs, sounds and texts attached with --attach go to the
model as files. Without TEXT, standard input is the question.
The model has no tools unless --read lets it read files in the current directory.
pawl "TEXT" is short for pawl ask "TEXT".

The model is that of --model, else of PAWL_MODEL, else the default of the provider
whose key is set. The run is recorded: pawl explain last shows what it did and cost.`
	c.Example = `  pawl ask "What is a monad?"
  git diff | pawl ask "What does this change?"
  pawl ask "Which function is too long?" -f main.go -f util.go
  pawl ask "What is to be paid?" --attach invoice.pdf
  pawl ask "Who is mentioned?" -f mail.txt --schema people.schema.json`
	c.Flags().StringArrayVarP(&o.files, "file", "f", nil, "add the text `FILE` as context; may be repeated")
	c.Flags().StringArrayVar(&o.attach, "attach", nil, attachHelp)
	c.Flags().StringVar(&o.schema, "schema", "", "a file with the JSON Schema of the answer, which is then JSON")
	c.Flags().BoolVar(&o.read, "read", false, "let the model read files in the current directory")
	c.Flags().StringVar(&o.thread, "thread", "", "continue this conversation: the messages of its last run come first")
	o.flag(c, "model", "effort", "limit", "label", "events", "policy")
	return c
}

func ask(ctx context.Context, a *app, o *asking, args []string) (int, error) {
	set, err := o.settings()
	if err != nil {
		return 0, err
	}
	with := defaultAgent{File: o.schema}
	if o.read {
		with.Tools = readTools
	}
	if o.schema != "" {
		if with.Output, err = readSchema(o.schema); err != nil {
			return 0, err
		}
	}
	agent, err := a.defaultAgent(ctx, "ask", &o.driving, set, with)
	if err != nil {
		return 0, err
	}
	input, err := a.question(ctx, o, args)
	if err != nil {
		return 0, err
	}
	files, err := attached(o.attach)
	if err != nil {
		return 0, err
	}
	w := &work{agent: agent, conclude: a.conclude, drop: func() {}}
	if a.outTerminal() != nil && !a.json && with.Output == "" {
		a.answers = &screen.Answer{To: a.out}
	}
	return a.with(ctx, func(j store) (int, error) {
		return driveNew(ctx, a, j, &o.driving, w, input, &engine.StartOptions{Labels: set.labels, Thread: o.thread, Files: files, Watch: a.answers != nil})
	})
}

// notSpec is the error for a text in the place of a spec; nil: it may be a spec.
func notSpec(name string) error {
	if _, err := os.Stat(name); err == nil || !strings.ContainsFunc(name, unicode.IsSpace) {
		return nil
	}
	switch filepath.Ext(name) {
	case ".yaml", ".yml", ".json":
		return nil
	}
	return misuse("%q is not a spec, which is a file such as agent.yaml; pawl ask %[1]q asks it", screen.OneLine(name))
}

// mostContext bounds the context of a question: standard input and files together.
const mostContext = 1 << 20

// question is the input of the run: the text, then its context in code blocks.
func (a *app) question(ctx context.Context, o *asking, args []string) (string, error) {
	piped := ""
	if !isTerminal(a.in) {
		var err error
		if piped, err = a.stdin(ctx); err != nil {
			return "", err
		}
		if err := textual("standard input", []byte(piped)); err != nil {
			return "", err
		}
	}
	text := ""
	if len(args) > 0 && args[0] != "-" {
		text = args[0]
	}
	if strings.TrimSpace(text) == "" {
		text, piped = piped, ""
	}
	if strings.TrimSpace(text) == "" {
		return "", misuse(`no question; give it as an argument, as in pawl ask "TEXT", or on standard input`)
	}
	var b strings.Builder
	b.WriteString(text)
	if strings.TrimSpace(piped) != "" {
		b.WriteString(block("Standard input", piped))
	}
	for _, name := range o.files {
		data, err := readContext("-f", name)
		if err != nil {
			return "", err
		}
		if bytes.HasPrefix(data, []byte("%PDF-")) { // it may be UTF-8, and is still none to read
			return "", misuse("-f: %s: it is application/pdf; use --attach", name)
		}
		if err := textual("-f: "+name, data); err != nil {
			return "", err
		}
		b.WriteString(block("File "+name, string(data)))
	}
	if b.Len() > len(text)+mostContext {
		return "", misuse("the context has %d bytes; standard input and files may have %d MiB together", b.Len()-len(text), mostContext>>20)
	}
	return b.String(), nil
}

// readContext reads a file up to just above the largest size of a context.
func readContext(flag, name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, misuse("%s: %s: %w", flag, name, display.WithoutPath(err))
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, mostContext+1))
	if err != nil {
		return nil, misuse("%s: %s: %w", flag, name, display.WithoutPath(err))
	}
	if len(data) > mostContext {
		return nil, misuse("%s: %s has more than %d MiB, which is the most for the context of a question", flag, name, mostContext>>20)
	}
	return wire.Unmarked(data), nil
}

// textual refuses what is not text.
func textual(name string, data []byte) error {
	if utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 {
		return nil
	}
	kind, _, _ := strings.Cut(http.DetectContentType(data), ";")
	if strings.HasPrefix(kind, "text/") {
		kind = "not UTF-8"
	}
	return misuse("%s: it is %s; a question takes text in UTF-8 only", name, kind)
}

// block is a text in a code block under its name. The fence is longer than any in the
// text, so that the text cannot close it.
func block(name, text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fmt.Sprintf("\n\n%s:\n\n%s\n%s\n%s\n", screen.OneLine(name), fence, strings.TrimSuffix(text, "\n"), fence)
}

// readSchema reads the file of a JSON Schema and checks that it is JSON; what it says is
// checked with the agent.
func readSchema(name string) (string, error) {
	if strings.HasPrefix(strings.TrimSpace(name), "{") {
		return "", misuse("--schema takes the name of a file; write the JSON Schema into one")
	}
	data, err := readContext("--schema", name)
	if err == nil {
		if wrong := json.Unmarshal(data, new(any)); wrong != nil {
			err = misuse("--schema: %s: it is not JSON: %w; write a JSON Schema", name, wrong)
		}
	}
	return string(data), err
}

// isTerminal reports whether a reader or writer is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && screen.Columns(f) > 0
}
