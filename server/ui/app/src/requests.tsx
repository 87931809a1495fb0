import { useEffect, useMemo, useState } from "preact/hooks";
import { api, words } from "./api";
import { diff, type Change } from "./diff";
import { number, plural, short } from "./format";
import { JsonView } from "./json";
import { useKeys } from "./keys";
import { cited } from "./said";
import { Notice, Text } from "./text";
import type { Entry, Sent, SentPart } from "./types";
import type { Live } from "./use-run";

/** Requests shows what the model was sent, rebuilt from the log, and how it differs from what it was sent before. */
export function Requests({ live, run, picked, pick }: { live: Live; run: string; picked: number; pick: (seq: number) => void }) {
  const { log, version } = live;
  const calls = useMemo(() => log.entries.filter((e) => e.type === "model.called"), [log, version]);
  const entry = log.entries[picked - 1];
  let at = calls.findIndex((e) => e.seq === picked);
  if (at < 0 && entry) at = calls.findLastIndex((e) => e.seq <= picked);
  if (at < 0) at = calls.length - 1;
  const call = calls[at];
  // Compare with the latest request of the same purpose: a judge's request has
  // nothing in common with a turn's.
  const before = call && calls.slice(0, at).findLast((e) => e.data.purpose === call.data.purpose && (e.data.step ?? "") === (call.data.step ?? ""));
  const [whole, setWhole] = useState(false);
  const to = (i: number) => calls[i] && pick(calls[i].seq);
  useKeys({ j: () => to(at + 1), k: () => to(at - 1), ArrowDown: () => to(at + 1), ArrowUp: () => to(at - 1), Home: () => to(0), End: () => to(calls.length - 1) }, 2);
  useEffect(() => document.getElementById(`call-${call?.seq}`)?.scrollIntoView({ block: "nearest" }), [call?.seq]);
  if (!call) return <div class="empty">No model was called yet.</div>;
  return (
    <div class="requests">
      <nav class="calls" aria-label="Model calls">
        {calls.map((e) => (
          <button type="button" key={e.seq} id={`call-${e.seq}`} aria-current={e === call ? "true" : undefined} onClick={() => pick(e.seq)}>
            <b>{e.iteration}</b><span>{e.data.purpose === "turn" ? "turn" : e.data.purpose}{e.data.attempt > 1 && ` · attempt ${e.data.attempt}`}</span><span class="num dim">{short(e.data.reserved_tokens - e.data.max_tokens)}</span>
          </button>
        ))}
      </nav>
      <div class="request">
        <header>
          <h2>Iteration {call.iteration}, {call.data.purpose}{call.data.attempt > 1 && `, attempt ${call.data.attempt}`}</h2>
          <span class="hint">entry {call.seq}, about {number(call.data.reserved_tokens - call.data.max_tokens)} tokens in, at most {number(call.data.max_tokens)} out</span>
          <span class="grow" />
          <div class="switch" role="group" aria-label="Show">
            <button type="button" aria-pressed={!whole} onClick={() => setWhole(false)} disabled={!before}>What changed</button>
            <button type="button" aria-pressed={whole || !before} onClick={() => setWhole(true)}>All of it</button>
          </div>
        </header>
        <Rebuilt run={run} call={call} before={before} whole={whole || !before} />
      </div>
    </div>
  );
}

const kept = new Map<string, Promise<Sent>>();

function rebuilt(run: string, seq: number): Promise<Sent> {
  const key = `${run}/${seq}`;
  let p = kept.get(key);
  if (!p) {
    p = api.request(run, seq);
    kept.set(key, p);
    p.catch(() => kept.delete(key));
    if (kept.size > 40) kept.delete(kept.keys().next().value!);
  }
  return p;
}

function Rebuilt({ run, call, before, whole }: { run: string; call: Entry; before?: Entry; whole: boolean }) {
  const [now, setNow] = useState<Sent | null>(null);
  const [was, setWas] = useState<Sent | null>(null);
  const [error, setError] = useState("");
  useEffect(() => {
    let on = true;
    setNow(null);
    setWas(null);
    setError("");
    rebuilt(run, call.seq).then((r) => on && setNow(r), (e) => on && setError(words(e)));
    if (before) rebuilt(run, before.seq).then((r) => on && setWas(r), () => {});
    return () => void (on = false);
  }, [run, call.seq, before?.seq]);
  const blocks = useMemo(() => (now ? blocksOf(now) : []), [now]);
  const old = useMemo(() => (was ? blocksOf(was) : []), [was]);
  if (error) return <Notice bad>{error}</Notice>;
  if (!now || (!whole && !was)) return <p class="empty" role="status">Rebuilding…</p>;
  return whole ? <Whole blocks={blocks} raw={now} /> : <Difference a={old} b={blocks} before={before!} />;
}

/** A Block is a part of a request that is the same or not as a whole. */
interface Block { role: string; head: string; text: string; mark?: boolean; masked?: boolean }

function pretty(v: unknown): string {
  return typeof v === "string" ? v : JSON.stringify(v, null, 2);
}

export function blocksOf(r: Sent): Block[] {
  const out: Block[] = [];
  if (r.system) out.push({ role: "system", head: "system", text: r.system });
  for (const t of r.tools ?? []) out.push({ role: "tool", head: `tool ${t.name}`, text: [t.description, t.input ? pretty(t.input) : ""].filter(Boolean).join("\n") });
  if (r.output) out.push({ role: "schema", head: "schema of the reply", text: pretty(r.output) });
  for (const m of r.messages ?? []) {
    (m.parts ?? []).forEach((p, i) => out.push({ ...part(m.role, p), mark: !!m.cache && i === m.parts.length - 1 }));
  }
  return out;
}

function part(role: string, p: SentPart): Block {
  switch (p.type) {
    case "thinking": return { role, head: `${role}, thinking`, text: p.text ?? "" };
    case "citation": return { role, head: `${role} cites ${cited({ title: p.title, url: p.url })}`, text: p.text ?? "" };
    case "call": return { role: "call", head: `${role} calls ${p.tool} ${p.call}`, text: pretty(p.args ?? {}) };
    case "result": return { role: "result", head: `result of ${p.tool} ${p.call}${p.error ? ", an error" : ""}${p.masked ? ", left out" : ""}`, text: p.text ?? "", masked: p.masked };
    case "image": return { role, head: `${role}, a picture`, text: `${p.media}, ${number(p.bytes ?? 0)} bytes` };
  }
  return { role, head: role, text: p.text ?? "" };
}

function Whole({ blocks, raw }: { blocks: Block[]; raw: Sent }) {
  const system = blocks.filter((b) => b.role === "system");
  const tools = blocks.filter((b) => b.role === "tool");
  const schema = blocks.filter((b) => b.role === "schema");
  const messages = blocks.filter((b) => !["system", "tool", "schema"].includes(b.role));
  return (
    <div class="blocks">
      <p class="facts"><span class="mono"><Text of={raw.model} /></span>{raw.sampling?.temperature !== undefined && <span>temperature {raw.sampling.temperature}</span>}{raw.sampling?.effort && <span>effort {raw.sampling.effort}</span>}{raw.masked?.length > 0 && <span>{plural(raw.masked.length, "result")} left out</span>}{raw.summary && <span>what came before is summed up</span>}</p>
      {system.map((b, i) => <BlockView key={i} b={b} />)}
      {tools.length > 0 && <details class="block tool"><summary>{plural(tools.length, "tool")}: <span class="mono">{tools.map((t) => t.head.slice(5)).join(", ")}</span></summary>{tools.map((b) => <BlockView key={b.head} b={b} />)}</details>}
      {schema.map((b) => <BlockView key={b.head} b={b} />)}
      {messages.map((b, i) => <BlockView key={i} b={b} />)}
      <details class="block raw"><summary>As JSON</summary><JsonView value={raw} open={2} /></details>
    </div>
  );
}

function BlockView({ b }: { b: Block }) {
  const [all, setAll] = useState(false);
  const cut = !all && b.text.length > 3000;
  return (
    <div class={`block ${b.role} ${b.masked ? "masked" : ""}`}>
      <div class="bar"><span><Text of={b.head} /></span></div>
      <pre><Text of={cut ? b.text.slice(0, 2500) : b.text} />{cut && <button type="button" class="link" onClick={() => setAll(true)}>… {number(b.text.length - 2500)} more characters</button>}</pre>
      {b.mark && <div class="cache-mark"><span>cached up to here</span></div>}
    </div>
  );
}

// A line that begins with this is the head of a block.
const HEAD = "\u0001";

/** lines are the blocks as lines, and after which of them a cache mark stands. */
function lines(blocks: Block[]): { all: string[]; marks: Set<number> } {
  const all: string[] = [];
  const marks = new Set<number>();
  for (const b of blocks) {
    all.push(HEAD + b.head, ...b.text.split("\n"));
    if (b.mark) marks.add(all.length);
  }
  return { all, marks };
}

function Difference({ a, b, before }: { a: Block[]; b: Block[]; before: Entry }) {
  const { changes, starts, marks } = useMemo(() => {
    const now = lines(b);
    const changes = diff(lines(a).all, now.all);
    const starts: number[] = [];
    let at = 0; // lines of the new request so far
    for (const c of changes) {
      starts.push(at);
      if (c.kind !== "del") at += c.lines.length;
    }
    return { changes, starts, marks: now.marks };
  }, [a, b]);
  const count = (kind: string) => changes.filter((c) => c.kind === kind).reduce((n, c) => n + c.lines.length, 0);
  return (
    <div class="diff">
      <p class="hint">Against iteration {before.iteration}, entry {before.seq}: <ins>{plural(count("add"), "line")} more</ins>, {count("del") > 0 ? <del>{number(count("del"))} fewer</del> : "none removed"}, {number(count("same"))} the same{changes[0]?.kind === "same" && <>, of which the first {number(changes[0].lines.length)} are a prefix that a cache can serve</>}.</p>
      <div class="difflines">{changes.map((c, i) => <Hunk key={i} c={c} first={i === 0} last={i === changes.length - 1} start={starts[i]} marks={marks} />)}</div>
    </div>
  );
}

function Hunk({ c, first, last, start, marks }: { c: Change; first: boolean; last: boolean; start: number; marks: Set<number> }) {
  const [all, setAll] = useState(false);
  const near = 3;
  const n = c.lines.length;
  const show = (from: number, to: number) => c.lines.slice(from, to).map((l, i) => (
    <>
      <LineOf kind={c.kind} l={l} />
      {c.kind !== "del" && marks.has(start + from + i + 1) && <div class="dl until"><span class="cached-here">cached up to here</span></div>}
    </>
  ));
  if (c.kind !== "same" || n <= near * 2 + 2 || all) return <>{show(0, n)}</>;
  const head = first ? 0 : near;
  const tail = last ? n : n - near;
  return (
    <>
      {show(0, head)}
      <button type="button" class="unfold" onClick={() => setAll(true)}>{number(tail - head)} lines the same{first ? ", the cached prefix" : ""}</button>
      {show(tail, n)}
    </>
  );
}

const signs = { same: " ", add: "+", del: "−" };

export function LineOf({ kind, l }: { kind: Change["kind"]; l: string }) {
  const head = l.startsWith(HEAD);
  const body = <><i aria-hidden="true">{signs[kind]}</i><Text of={head ? l.slice(1) : l || " "} /></>;
  const c = `dl ${kind} ${head ? "head" : ""}`;
  return kind === "add" ? <ins class={c}>{body}</ins> : kind === "del" ? <del class={c}>{body}</del> : <div class={c}>{body}</div>;
}
