package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

func initCommand(a *app) *cobra.Command {
	return a.command("init [NAME]", "Write a starter spec, NAME.yaml, that runs unchanged", cobra.MaximumNArgs(1),
		func(_ context.Context, args []string) (int, error) {
			name := "agent"
			if len(args) > 0 {
				name = args[0]
			}
			return 0, writeStarter(a, name)
		})
}

// writeStarter writes a starter and its script. It overwrites nothing.
func writeStarter(a *app, name string) error {
	name = strings.TrimSuffix(name, ".yaml")
	base := filepath.Base(name)
	if strings.Trim(base, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || base == "" {
		return misuse("invalid agent name %q; use lower-case letters, digits and hyphens", base)
	}
	script := name + ".script.yaml"
	starter := strings.NewReplacer("NAME", base, "SCRIPT", filepath.Base(script))
	files := []struct{ name, text string }{{name + ".yaml", starter.Replace(starterSpec)}, {script, starter.Replace(starterScript)}}
	for i, f := range files {
		err := createFile(f.name, f.text)
		if err == nil {
			continue
		}
		for _, made := range files[:i] {
			err = errors.Join(err, os.Remove(made.name))
		}
		if errors.Is(err, fs.ErrExist) {
			return misuse("%s exists already and was not changed; give another NAME", f.name)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return misuse("there is no directory %s; make it first", filepath.Dir(f.name))
		}
		return err
	}
	a.sayf("run it: pawl run %s", files[0].name)
	if a.json {
		return printJSON(a.out, struct {
			Files []string `json:"files"`
		}{[]string{files[0].name, files[1].name}})
	}
	_, err := a.out.Write([]byte(files[0].name + "\n"))
	return err
}

// createFile writes a file that must not exist yet.
func createFile(name, text string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // it holds no secret, and a project is shared
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

const starterSpec = `# An agent. It runs as it is, without a key:
#   pawl run NAME.yaml
#   pawl explain last
# Validate with: pawl check NAME.yaml
# Every key there is: pawl schema
name: NAME
description: Counts the words of a text.

# With a key in ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY the model is the
# default of its provider; name another one as anthropic/claude-sonnet-5-5. Without a
# key this script answers, which always says the same.
model: {demo: SCRIPT}

prompt: |
  You count the words of texts. Count with the tool, never in your head.

# What it works on when nothing else is said: pawl run NAME.yaml "ANOTHER TEXT"
input: A ratchet turns forward and never slips back.

tools:
  # A program. It gets the arguments as one JSON object on standard input, and
  # what it prints is the result. There is no shell; ./count.sh would be a script
  # next to this file.
  - name: count_words
    description: Count the words of a text, which is given on one line.
    command: [wc, -w]
    input:
      type: object
      properties: {text: {type: string, pattern: '^\S+( +\S+)*$'}}
      required: [text]
    effect: read          # read: may be repeated; idempotent; write: at most once
    timeout: 10s
    # approval: required  # a person decides about every call

# builtins: true          # let it ask a person, remember, and hand in its answer with a confidence
# stop: tool_called("count_words") && confidence >= 0.9 || iterations >= 5

# It ends at the first of these. Without them there are 20 iterations, 500,000
# tokens and half an hour.
limits: {iterations: 5, time: 2m}
`

const starterScript = `# What the model of NAME.yaml says, turn by turn.
replies:
  - text: Let me count.
    calls: [{tool: count_words, args: {text: A ratchet turns forward and never slips back.}}]
  - expect: "8"
    text: The text has 8 words.
`
