import { useEffect, useState } from "preact/hooks";
import { api, readLog, words } from "./api";
import { diff } from "./diff";
import { duration, money, number, stamp } from "./format";
import { diverge, type Move } from "./moves";
import { Crumbs } from "./nav";
import { LineOf } from "./requests";
import { link } from "./route";
import { Id, Notice, Prose, Status, Text } from "./text";
import type { Entry, Result } from "./types";

interface Side { result: Result; entries: Entry[] }

async function side(run: string, signal: AbortSignal): Promise<Side> {
  const entries: Entry[] = [];
  await readLog(run, "", (page) => entries.push(...page), signal);
  return { entries, result: await api.run(run, signal) };
}

/** Compare shows two runs side by side: where they part, what they cost, what they answered. */
export function Compare({ a, b }: { a: string; b: string }) {
  const [both, setBoth] = useState<[Side, Side] | null>(null);
  const [error, setError] = useState("");
  useEffect(() => {
    const stop = new AbortController();
    Promise.all([side(a, stop.signal), side(b, stop.signal)]).then(setBoth, (e) => stop.signal.aborted || setError(words(e)));
    return () => stop.abort();
  }, []);
  return (
    <div class="compare" data-loaded={both ? true : undefined}>
      <Crumbs>Compare</Crumbs>
      <h1>Two runs compared</h1>
      {error ? <Notice bad>{error}</Notice> : !both ? <p role="status">Loading…</p> : <Sides left={both[0]} right={both[1]} />}
    </div>
  );
}

function Sides({ left, right }: { left: Side; right: Side }) {
  const [l, r] = [left.result, right.result];
  const input = (s: Side) => String(s.entries[0]?.data.input ?? "");
  const rows: [string, (s: Side) => string][] = [
    ["Status", (s) => s.result.status],
    ["Reason", (s) => s.result.reason.leaf || s.result.reason.detail],
    ["Input", input],
    ["Cost", (s) => money(s.result.cost_usd)],
    ["Tokens", (s) => number(s.result.usage.input_tokens + s.result.usage.output_tokens)],
    ["Iterations", (s) => String(s.result.iterations)],
    ["Tool calls", (s) => String(s.result.tool_calls)],
    ["Time", (s) => duration(s.result.elapsed_ms)],
  ];
  const at = diverge(left.entries, right.entries);
  const changed = declared(declaration(left.entries), declaration(right.entries));
  return (
    <>
      <table>
        <thead>
          <tr><th scope="col"><span class="sr">What</span></th>{[left, right].map((s) => <th scope="col" key={s.result.run}><a href={link(s.result.run)}><Text of={s.result.agent} /></a> <Id of={s.result.run} /><br /><span class="dim">{s.entries[0] && stamp(Date.parse(s.entries[0].time))}</span></th>)}</tr>
        </thead>
        <tbody>
          {rows.map(([name, of]) => (
            <tr key={name} class={of(left) !== of(right) ? "differs" : ""}>
              <th scope="row">{name}</th>
              {[left, right].map((s) => <td key={s.result.run}>{name === "Status" ? <Status of={s.result.status} /> : <Prose of={of(s) || "–"} max={600} />}</td>)}
            </tr>
          ))}
        </tbody>
      </table>
      <section aria-labelledby="parts">
        <h2 id="parts">{at ? "First difference" : "What they did is the same"}</h2>
        {at
          ? <><p class="dim">{at.same === 0 ? "They differ from the beginning." : `The first ${at.same} ${at.same === 1 ? "reply or result is" : "replies and results are"} the same.`}</p><div class="sides"><Moved run={l.run} m={at.a} /><Moved run={r.run} m={at.b} /></div></>
          : <p class="dim">Replies, calls, results and decisions are the same in both logs. Times, ids and costs may differ.</p>}
      </section>
      {changed.length > 0 && (
        <section aria-labelledby="agents">
          <h2 id="agents">The agent differs</h2>
          {changed.map(([name, x, y]) => <div key={name}><h3 class="mono">{name}</h3><Lines a={x} b={y} /></div>)}
        </section>
      )}
      <section aria-labelledby="answers">
        <h2 id="answers">{l.answer === r.answer ? "The answers are the same" : "Answers"}</h2>
        {l.answer === r.answer ? <Prose of={l.answer || "There is none yet."} class="quote" /> : <Lines a={l.answer} b={r.answer} />}
      </section>
    </>
  );
}

function Moved({ run, m }: { run: string; m?: Move }) {
  if (!m) return <div><p class="dim">Nothing follows in this log.</p></div>;
  return (
    <div>
      <h3>{m.what}</h3>
      <p class="dim">Iteration {m.iteration}, <a href={link(run, "timeline", m.seq)}>entry {m.seq}</a></p>
      <Prose of={m.text} mono class="quote" max={3000} />
    </div>
  );
}

function Lines({ a, b }: { a: string; b: string }) {
  return (
    <div class="difflines">
      {diff(a ? a.split("\n") : [], b ? b.split("\n") : []).flatMap((c, i) => c.lines.map((l, k) => <LineOf kind={c.kind} l={l} key={`${i}.${k}`} />))}
    </div>
  );
}

// What run.started says of the run and not of its agent.
const ofRun = ["input", "labels", "thread", "parent", "owner", "epoch", "continues", "key", "nonce", "traceparent", "digest", "digests", "machine", "source", "untrusted"];

/** declaration is the agent that a run has now: the one it began with, or a changed one. */
function declaration(log: Entry[]): Record<string, unknown> {
  return log.reduce((d, e) => (e.type === "run.resumed" && e.data.changed ? e.data.changed : d), log[0]?.data ?? {});
}

/** declared are the parts of two declarations that differ. */
function declared(a: Record<string, unknown> = {}, b: Record<string, unknown> = {}): [string, string, string][] {
  const text = (v: unknown) => (v === undefined ? "" : typeof v === "string" ? v : JSON.stringify(v, null, 2));
  return [...new Set([...Object.keys(a), ...Object.keys(b)])]
    .filter((k) => !ofRun.includes(k) && !k.endsWith("digest") && JSON.stringify(a[k]) !== JSON.stringify(b[k]))
    .map((k) => [k, text(a[k]), text(b[k])]);
}
