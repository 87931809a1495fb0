import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { readLog } from "./api";
import { Log } from "./fold";
import { clock, plural } from "./format";
import { Folded, Markdown } from "./markdown";
import { link } from "./route";
import { Prose, Text } from "./text";
import type { Json, Pending } from "./types";
import type { Live } from "./use-run";

/** Basis is what a person who decides about a call should know: what was asked and said, what the decision relies on, and what came before. */
export function Basis({ p, live }: { p: Pending; live: Live }) {
  const own = useLog(p.run, live);
  const log = own ?? live.log;
  const requested = log.entries.findLast((e) => e.type === "approval.requested" && e.data.call === p.call)?.data;
  const reply = log.entries.findLast((e) => e.type === "model.replied" && e.data.calls?.some((c: any) => c.call === p.call))?.data;
  const said = reply?.text || reply?.thinking;
  const relies = Object.keys(requested?.witnesses ?? {}).sort();
  const earlier = p.kind === "approval" ? earlierDecision(log, p) : undefined;
  const before = log.turns.flatMap((t) => t.spans).filter((s) => s.kind === "act" && s.call !== p.call);
  const failed = before.filter((s) => s.state === "bad" || s.state === "refused").length;
  return (
    <dl class="basis">
      <Row name="Asked">{live.log.start?.input && <Prose of={live.log.start.input} max={500} />}</Row>
      <Row name="Asked of the child run">{own && own !== live.log && own.start?.input && <Prose of={own.start.input} max={500} />}</Row>
      <Row name="The model says">{said && <Folded key={said} what="text"><Markdown of={said} /></Folded>}</Row>
      <Row name="Lapses on a change of">{relies.length > 0 && <Text of={relies.join(", ")} />}</Row>
      <Row name="Earlier decision">{earlier && <><Text of={`${earlier.by} ${earlier.decision === "approve" ? "approved" : "denied"} ${p.tool} at ${clock(Date.parse(earlier.time))}`} />{earlier.reason && <>: <Text of={earlier.reason} /></>}{/[.!?]$/.test(earlier.reason ?? "") ? " " : ". "}<Changes was={earlier.args} is={p.args} same="The arguments are the same." /></>}</Row>
      <Row name="Before">{before.length > 0 && (
        <details>
          <summary>{plural(before.length, "call")}{failed > 0 && `, ${failed} of them failed or refused`}</summary>
          <ul class="steps">{before.map((s) => <li key={s.id}><b class="mono"><Text of={s.name} /></b> <span><Text of={s.text} /></span> <em class={s.state}>{s.who || { ok: "done", bad: "failed", refused: "refused", held: "waits" }[s.state as string]}</em></li>)}</ul>
          <a class="hint" href={link(p.run, "conversation")}>the whole conversation</a>
        </details>
      )}</Row>
    </dl>
  );
}

function Row({ name, children }: { name: string; children: ComponentChildren }) {
  return children ? <div><dt>{name}</dt><dd>{children}</dd></div> : null;
}

/** useLog is the log of a run: the one that is shown, or that of a child, which is read; null: not yet. */
function useLog(run: string, live: Live): Log | null {
  const shown = live.log.entries[0]?.run;
  const [child, setChild] = useState<Log | null>(null);
  useEffect(() => {
    if (!shown || !run || run === shown) return;
    const stop = new AbortController();
    const log = new Log();
    readLog(run, "", (all) => all.forEach((e) => log.add(e)), stop.signal).then(() => setChild(log), () => {}); // without it the rest stands
    return () => stop.abort();
  }, [run, shown]);
  return !run || run === shown ? live.log : child;
}

function earlierDecision(log: Log, p: Pending): { by: string; decision: string; reason: string; time: string; args: Json } | undefined {
  const asked = new Map<string, any>();
  let found;
  for (const e of log.entries) {
    if (e.type === "approval.requested") asked.set(e.data.call, e.data);
    if (e.type !== "approval.decided" || log.call(e.data.call)?.name !== p.tool) continue;
    const { by, decision, reason, args } = e.data;
    found = { by: by || "somebody", decision, reason, time: e.time, args: args ?? asked.get(e.data.call)?.args };
  }
  return found;
}

/** Changes are the members in which arguments differ from others. */
export function Changes({ was, is, same = "" }: { was: Json; is: Json; same?: string }) {
  const [a, b] = [members(was), members(is)];
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])].filter((k) => a[k] !== b[k]);
  if (!names.length) return <>{same}</>;
  return <span class="changes mono">{names.map((k) => <span key={k}><Text of={k} />: <del><Text of={a[k] ?? "nothing"} /></del> → <ins><Text of={b[k] ?? "nothing"} /></ins></span>)}</span>;
}

function members(v: Json): Record<string, string> {
  const object = typeof v === "object" && v !== null && !Array.isArray(v);
  return Object.fromEntries(object ? Object.entries(v).map(([k, x]) => [k, JSON.stringify(x)]) : [["arguments", JSON.stringify(v) ?? "none"]]);
}
