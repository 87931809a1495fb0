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
			c.Long = ""
			c.Args = func(_ *cobra.Command, args []string) error {
				if of, rest, _ := root.Find(args); of == root && len(rest) > 0 {
					return unknownCommand(root, rest[0])
				}
				return nil
			}
		case "completion":
			c.Long = ""
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
	"review": {`The change is the working tree against HEAD unless an argument says otherwise: REF..REF,
REF...REF, REF for REF..HEAD, a patch file, or - for a patch on standard input. The command
changes nothing. A model reads the changed functions, and may only report faults in lines of
the change. Exit code 0 means no findings, 1 findings; a run that did not come to its end
exits as pawl run does.`, `
pawl review
pawl review main..HEAD --format github
git diff | pawl review - ./service --limit cost=0.50`},
	"repro": {`A model writes a test in a copy of the project, where it may edit nothing but tests. The test is
added to the project when it fails by an assertion in five of five runs, and every other test does
what it did before. TEXT may be - for standard input.`, `
pawl repro "Of(nil) returns 1; it should return 0"
pawl repro issue.md ./service --test "go test ./..." --dry-run`},
	"refactor": {`The tests must pass before. A model works in a copy of the project; its changes are applied when every
test that passed still passes, and the metric is lower.`, `
pawl refactor "early returns" ./service --dry-run
pawl refactor "split Parse into steps" --metric complexity --limit cost=1
pawl refactor "fewer allocations in Join" --metric "cmd:./allocs.sh"`},
	"resume": {`A run that reached a limit needs a higher one. If the agent has changed since, the command
lists the changes; --allow-change resumes the run anyway.`, `
pawl resume last
pawl resume 01J8 --limit iterations=+5,cost=2`},
	"fork": {`The new run begins with the entries of the old run up to SEQ, and then continues on its
own. pawl events RUN shows the entries. The old run does not change.`, `
pawl fork last --at 12
pawl fork last --at 4 "Try the cheaper one." --model google/gemini-4-hydrogen`},
	"cancel": {`A running tool is stopped. A cancelled run can be resumed.`, `
pawl cancel last --reason "wrong customer"`},
	"runs": {`Each line has the run's id, agent, status, time of creation, iterations, cost and labels.`, `
pawl runs --status waiting_approval
pawl runs --agent procurement --label team=ops --max 20 --json`},
	"budgets": {`Each line is what the runs with one value of a label have spent in a period, what calls in
progress have reserved, and the limit. Periods that are over are left out without --all.`, `
pawl budgets
pawl budgets --all --json`},
	"show": {`--json prints the whole result. --spec shows the run's agent. --cost shows what the run
spent its tokens and dollars on.`, `
pawl show last
pawl show 01J8 --cost`},
	"events": {`The entries are the log of the run, from which everything else is computed.`, `
pawl events last
pawl events last --follow`},
	"explain": {`The report is Markdown. On a terminal it is in colour; in a file or a pipe, and with
NO_COLOR, it is plain. --json prints the same report for programs.`, `
pawl explain last
pawl explain last > why.md`},
	"wait": {`Use it in scripts to wait for a run that another process drives. It also waits for a run
whose process is gone, which goes on when a worker, a server or pawl resume takes it.`, `
pawl wait 01J8 --timeout 10m`},
	"approve": {`The decision is recorded, and the run continues if this user suspended it in this
directory. If several calls wait and none is named, the command lists them.`, `
pawl approve last
pawl approve last c_3 --args '{"amount": 90}'
pawl approve last --all --scope run
pawl approve last c_3 --scope agent --free note --times 10 --until 7d`},
	"approvals": {`A standing permission lets later calls run that are such as the one that was approved. It ends
with its time, its number of calls, or a change of the agent's tool or policies.`, `
pawl approvals
pawl approvals revoke p_1f`},
	"deny": {`The model reads the reason and the run continues, unless the agent stops at a denial.`, `
pawl deny last c_3 --reason "too expensive"`},
	"answer": {`The run continues if this user suspended it in this directory.`, `
pawl answer last "The blue one."
pawl answer last "Friday" --id c_2`},
	"submit": {`Client tools run outside Pawl; the run waits for their results.`, `
pawl submit last c_2 '{"cell": "B4"}'`},
	"settle": {`The outcome of a write that was interrupted is unknown. Pawl never repeats such a call
on its own. Check whether the call took place, and record the result with this command.`, `
pawl settle last c_4 --happened '{"id": 17}'
pawl settle last c_4 --did-not-happen`},
	"serve": {`The page and the API need a token: $PAWL_TOKEN, --token-file, or one that is generated
and printed. The server recovers runs whose process died.`, `
pawl serve agent.yaml
pawl serve ./agents --addr 127.0.0.1:9000`},
	"worker": {`It drives runs that are queued, due or signalled, or whose process ended, as pawl serve does,
without a server. Any number of workers share a database. After a signal it takes no
more runs; what has not ended when --grace is over is queued for another worker.`, `
pawl worker agent.yaml --slots 20
pawl worker ./agents --label tenant=acme --database postgres://pawl@db/pawl
pawl worker ./agents --on temporal://127.0.0.1:7233/default`},
	"mcp": {`Clients start this command and speak MCP on its standard input and output. With --http,
they connect to its address instead.`, `
pawl mcp agent.yaml
pawl mcp agent.yaml --http 127.0.0.1:8081`},
	"acp": {`An editor such as Zed, a JetBrains IDE or Neovim starts this command, and speaks the Agent
Client Protocol on its standard input and output. A session is a thread, a prompt is a run,
and a request for permission is an approval. Without SPEC, the agent is that of pawl chat.`, `
pawl acp
pawl acp agent.yaml`},
	"doctor": {`It checks the build, the database, its clock and rights, leases and runs that nobody
drives, keys, and that providers, webhooks and the telemetry collector answer: those of
the agents in specs or, without specs, the providers that have a key. It changes nothing
and calls no model. Exit code 0 means that nothing is wrong (there may be warnings), 1
that something is, and 2 that the command line or a spec is bad. --json prints the checks,
each with its grade (ok, warning or error), detail and remedy.`, `
pawl doctor
pawl doctor agents/ --database postgres://pawl@db.example.org/pawl
pawl doctor --server https://runs.example.org
pawl doctor agents/ --on temporal://127.0.0.1:7233/default`},
	"gc": {`Runs that wait, are paused or were interrupted stay unless --status names them.`, `
pawl gc --dry-run
pawl gc --older-than 7d --status failed,cancelled`},
	"backup": {`The copy is a database that pawl opens. cp cannot copy a database that is in use. After
restoring a copy, run pawl import --restored.`, `
pawl backup /backups/pawl-2026-11-25.db`},
	"export": {`After import, such an export cannot be resumed. An export made with --raw can.`, `
pawl export last > run.jsonl
pawl export last --raw | ssh other pawl import -`},
	"verify": {`Exit code 0: intact; 1: not. An export, kept elsewhere and best signed, shows what digests
alone cannot: a log written again by somebody who can write to the database, or cut off.`, `
pawl verify last
pawl verify last --against run.jsonl --key public.pem`},
	"import": {`FILE may be - for standard input. The run keeps its id. The journal must not have a run with
this id yet. --restored reads no file: it marks the runs of a database that was restored from a backup.`, `
pawl import run.jsonl
pawl import - < run.jsonl
pawl import --restored`},
	"init": {`It also writes a script with the model's replies, so that the spec runs without a key.`, `
pawl init
pawl init procurement`},
	"check": {`Each problem has its position, FILE:LINE:COLUMN. The command runs nothing and calls no model.`, `
pawl check agent.yaml
pawl check agent.yaml --json`},
	"replay": {`It shows whether this build decides as the build that made the run did. Exit code 0 means
that all steps agree.`, `
pawl replay last`},
	"schema": {`Editors use the schema to complete and check specs.`, `
pawl schema > pawl.schema.json`},
	"completion": {`pawl completion SHELL --help explains how to load the script.`, `
source <(pawl completion bash)
pawl completion fish > ~/.config/fish/completions/pawl.fish`},
	"help": {"pawl COMMAND --help shows the same.", `
pawl help run`},
	"version": {`The commit and the Go version are those of the build.`, `
pawl version
pawl version --json`},
}
