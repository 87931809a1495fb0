import { useState } from "preact/hooks";
import { api, words } from "./api";
import { Dialog } from "./dialog";
import { argsLine, ended, plural } from "./format";
import { link } from "./route";
import { Notice, Status, Text } from "./text";
import type { Pending, RunLine } from "./types";

export type Bulk = "cancel" | "resume" | "approve";

// One thing that will be done, and to what.
interface Deed { line: RunLine; pending?: Pending }

const approvals = (r: RunLine) => (r.status === "expired" ? [] : r.waits ?? []).filter((p) => p.kind === "approval" && !p.answered_at);

/** deeds are what an action does to those of the runs that it applies to. */
export function deeds(what: Bulk, runs: RunLine[]): Deed[] {
  switch (what) {
    case "cancel": return runs.filter((r) => !ended.includes(r.status)).map((line) => ({ line }));
    case "resume": return runs.filter((r) => ["exhausted", "no_progress", "failed", "plan_failed", "cancelled", "paused", "interrupted", "expired"].includes(r.status)).map((line) => ({ line }));
    case "approve": return runs.flatMap((line) => approvals(line).map((pending) => ({ line, pending })));
  }
}

const say: Record<Bulk, [title: string, does: (n: number) => string, what: string]> = {
  cancel: ["Cancel runs", (n) => `Cancel ${plural(n, "run")}`, "A write in progress is finished first. Cancelled runs can be resumed."],
  resume: ["Resume runs", (n) => `Resume ${plural(n, "run")}`, "Each goes on within the limits that it has."],
  approve: ["Approve calls", (n) => `Approve ${plural(n, "call")}`, "Each of these calls then runs, once, with the arguments shown."],
};

// How many requests are made at once.
const atOnce = 4;

/** BulkDialog says what will be done to how many, does it, and shows the outcome of each. */
export function BulkDialog({ what, runs, close }: { what: Bulk; runs: RunLine[]; close: () => void }) {
  // What was shown is what is done, even if the list below changes.
  const [all] = useState(() => deeds(what, runs));
  const [reason, setReason] = useState("");
  const [outcomes, setOutcomes] = useState<string[]>([]); // empty: it went well
  const [done, setDone] = useState(false);
  const [title, does, note] = say[what];
  const left = runs.length - new Set(all.map((d) => d.line.run)).size;
  const one = async (d: Deed) => {
    if (d.pending) await api.call(d.pending.run || d.line.run, d.pending.call, "approve", {});
    else await api.act(d.line.run, what as "cancel" | "resume", what === "cancel" ? { reason } : {});
  };
  const act = async () => {
    const out: string[] = [];
    let next = 0;
    const worker = async () => {
      for (let i = next++; i < all.length; i = next++) {
        out[i] = await one(all[i]).then(() => "", words);
        setOutcomes([...out]);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
    setDone(true);
  };
  const bad = outcomes.filter(Boolean).length;
  return (
    <Dialog signed={!done && what !== "resume"} title={title} does={done || !all.length ? undefined : does(all.length)} danger={what === "cancel"} act={act} close={close} stay wide>
      {done
        ? <Notice bad={bad > 0}>{bad ? `${plural(all.length - bad, "request")} accepted, ${bad} refused.` : `${plural(all.length, "request")} accepted.`}</Notice>
        : <p>{all.length ? note : "This applies to none of the selected runs."}{left > 0 && all.length > 0 && ` It does not apply to ${left} of the ${runs.length} selected, which stay as they are.`}</p>}
      <ul class="deeds">
        {all.map((d, i) => (
          <li key={d.line.run + (d.pending?.call ?? "")}>
            <a href={link(d.line.run)} target="_blank" rel="noopener"><Text of={d.line.agent} /> <span class="mono id">{d.line.run.slice(-8)}</span></a>
            <span class="what">{d.pending ? <><Text of={`${d.pending.tool}  ${argsLine(d.pending.args)}`} /><br /><span class="dim"><Text of={d.line.input ?? ""} /></span></> : <><Status of={d.line.status} /> <Text of={d.line.input ?? ""} /></>}</span>
            <span class={`outcome ${outcomes[i] ? "bad" : ""}`}>{outcomes[i] === undefined ? "" : outcomes[i] || (what === "approve" ? "✓ approved" : what === "cancel" ? "✓ requested" : "✓ resumed")}</span>
          </li>
        ))}
      </ul>
      {what === "cancel" && !done && all.length > 0 && <div class="field"><label for="bulk-why">Reason</label><textarea id="bulk-why" rows={2} data-first value={reason} onInput={(e) => setReason(e.currentTarget.value)} /></div>}
    </Dialog>
  );
}
