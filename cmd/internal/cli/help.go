package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// describe gives the commands their long help and examples.
func describe(root *cobra.Command) {
	for _, c := range root.Commands() {
		h, ok := help[c.Name()]
		if !ok {
			continue
		}
		switch c.Name() { // these are cobra's
		case "help":
			c.Use, c.Short, c.Long = "help [COMMAND]", "Show the help of a command", ""
		case "completion":
			c.Use, c.Short, c.Long = "completion SHELL", "Print a script with which a shell completes commands, flags and runs", ""
			c.Args = cobra.ArbitraryArgs
			c.RunE = func(c *cobra.Command, args []string) error {
				if len(args) > 0 {
					return fmt.Errorf("there is no completion for %s; write pawl completion bash, fish, powershell or zsh", oneLine(args[0]))
				}
				return c.Help()
			}
		}
		if c.Long == "" {
			c.Long = c.Short + ".\n\n" + strings.TrimSpace(h.long)
		}
		if c.Example == "" {
			lines := strings.Split(strings.TrimSpace(h.examples), "\n")
			c.Example = fmt.Sprintf("  %s", strings.Join(lines, "\n  "))
		}
	}
}

// help is what the help of commands says beyond one line.
var help = map[string]struct{ long, examples string }{
	"run": {`The answer goes to standard output, progress to standard error. The exit code says how
the run ended: 0 success, 3 a limit was reached, 4 no progress, 5 it waits for a person.
Ctrl-C suspends the run; pawl resume continues it.`, `
pawl run agent.yaml "Find a vendor."
git log -20 | pawl run notes.yaml -
pawl run agent.yaml --limit cost=0.50,time=10m --label team=ops --json`},
	"fix": {"", `
pawl fix
pawl fix ./service --test "go test ./..." --dry-run
pawl fix --keep best --limit cost=1`},
	"resume": {`A run that reached a limit needs a higher one. If the agent has changed since, the command
says what changed; --allow-change resumes all the same.`, `
pawl resume last
pawl resume 01J8 --limit iterations=+5,cost=2`},
	"fork": {`The new run begins with the entries of the old one up to SEQ, and then goes its own way.
pawl events RUN shows the entries. The old run is not changed.`, `
pawl fork last --at 12
pawl fork last --at 4 "Try the cheaper one." --model openai/gpt-5-mini`},
	"cancel": {`A running tool is stopped; a run that was cancelled can be resumed.`, `
pawl cancel last --reason "wrong customer"`},
	"runs": {`Each line has the run's id, agent, status, age, iterations, cost and labels.`, `
pawl runs --status waiting_approval
pawl runs --agent procurement --label team=ops --max 20 --json`},
	"show": {`--json prints the whole result. --spec shows the agent as it ran, --cost what was paid for.`, `
pawl show last
pawl show 01J8 --cost`},
	"events": {`The entries are the log of the run, from which everything else is computed.`, `
pawl events last
pawl events last --follow`},
	"explain": {`The page is Markdown: in colour on a terminal, as it is in files and pipes, and with
NO_COLOR. --json has the same for programs.`, `
pawl explain last
pawl explain last > why.md`},
	"wait": {`Use it in scripts, for a run that another process drives.`, `
pawl wait 01J8 --timeout 10m`},
	"plan": {`The projection has a low, a likely and a highest outcome, and says what it assumes.`, `
pawl plan agent.yaml
pawl plan agent.yaml --iterations 8 --model anthropic/claude-sonnet-5`},
	"approve": {`The decision is recorded, and the run continues if this user suspended it in this
directory. If several calls wait and none is named, the command lists them.`, `
pawl approve last
pawl approve last c_3 --args '{"amount": 90}'
pawl approve last --all --scope run`},
	"deny": {`The model reads the reason and goes on, unless the agent stops at a denial.`, `
pawl deny last c_3 --reason "too expensive"`},
	"answer": {`The run continues if this user suspended it in this directory.`, `
pawl answer last "The blue one."
pawl answer last "Friday" --id c_2`},
	"submit": {`Client tools run outside Pawl; the run waits for their results.`, `
pawl submit last c_2 '{"cell": "B4"}'`},
	"settle": {`A write that was cut short is in doubt: it is never repeated without being asked. Look
whether it took place, and say so.`, `
pawl settle last c_4 --happened '{"id": 17}'
pawl settle last c_4 --did-not-happen`},
	"serve": {`The page and the API need a token: $PAWL_TOKEN, --token-file, or one that is generated
and printed. Runs whose process died are taken over.`, `
pawl serve agent.yaml
pawl serve ./agents --addr 127.0.0.1:9000`},
	"mcp": {`Clients start this command and speak MCP on its standard input and output.`, `
pawl mcp agent.yaml
pawl mcp agent.yaml --http 127.0.0.1:8081`},
	"gc": {`Runs that wait, are paused or were interrupted stay unless --status names them.`, `
pawl gc --dry-run
pawl gc --older-than 7d --status failed,cancelled`},
	"export": {`Such an export cannot be resumed after import; one made with --raw can.`, `
pawl export last > run.jsonl
pawl export last --raw | ssh other pawl import -`},
	"import": {`The run keeps its id. It must not exist here yet.`, `
pawl import run.jsonl
pawl import - < run.jsonl`},
	"init": {`It also writes a script with the model's replies, so that the spec runs without a key.`, `
pawl init
pawl init procurement`},
	"check": {`Each problem has its place: FILE:LINE:COLUMN. Nothing is run and no model is called.`, `
pawl check agent.yaml
pawl check agent.yaml --json`},
	"replay": {`It shows that this build decides as the one that made the run. Exit code 0: all agree.`, `
pawl replay last`},
	"schema": {`Editors complete and check specs with it.`, `
pawl schema > pawl.schema.json`},
	"completion": {`The script completes commands, flags, models, runs, calls, agents, labels and the tools of
a spec. pawl completion SHELL --help says how to load it.`, `
source <(pawl completion bash)
pawl completion fish > ~/.config/fish/completions/pawl.fish`},
	"help": {"pawl COMMAND --help shows the same.", `
pawl help run`},
	"version": {`It also says from which commit and with which Go it was built.`, `
pawl version
pawl version --json`},
}
