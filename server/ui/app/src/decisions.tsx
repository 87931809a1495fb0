import { useEffect, useState } from "preact/hooks";
import { api, words } from "./api";
import { money, number, plural, stamp } from "./format";
import { decisionsLink, go, link } from "./route";
import { Id, Notice, Text } from "./text";
import type { Decision } from "./types";
import type { Live } from "./use-run";

const did: Record<string, string> = {
  fork: "forked", approve: "approved", deny: "denied", answer: "answered", submit: "returned a result for",
  settle: "resolved", cancel: "cancelled", say: "said something", extend: "changed the limits", note: "noted",
};
const times: [string, string, number][] = [["24h", "last 24 hours", 864e5], ["7d", "last 7 days", 6048e5], ["30d", "last 30 days", 2592e6], ["", "any time", 0]];

/** DecisionsPage shows who decided what and when, of all runs. */
export function DecisionsPage({ query }: { query: URLSearchParams }) {
  const of = { by: query.get("by") ?? "", what: query.get("what") ?? "", agent: query.get("agent") ?? "", time: query.get("time") ?? "" };
  const [typed, setTyped] = useState(of.by);
  const [all, setAll] = useState<Decision[] | null>(null);
  const [next, setNext] = useState("");
  const [error, setError] = useState("");
  const load = (cursor: string, signal?: AbortSignal) => {
    const span = times.find(([v]) => v === of.time)?.[2];
    return api.decisions({ by: of.by, what: of.what, agent: of.agent, since: span ? new Date(Date.now() - span).toISOString() : "", cursor }, signal).then((p) => {
      setAll((now) => (cursor ? [...(now ?? []), ...p.decisions] : p.decisions));
      setNext(p.next);
      setError("");
    }).catch((e) => void (signal?.aborted || setError(words(e))));
  };
  useEffect(() => {
    const stop = new AbortController();
    setTyped(of.by);
    void load("", stop.signal);
    return () => stop.abort();
  }, [query.toString()]);
  const set = (change: Partial<typeof of>) => go(decisionsLink({ ...of, ...change }));
  return (
    <div class="compare decided" data-loaded={all ? true : undefined}>
      <h1>Who decided what</h1>
      <form class="filters" onSubmit={(e) => { e.preventDefault(); set({ by: typed.trim() }); }}>
        <select aria-label="Time" value={of.time} onChange={(e) => set({ time: e.currentTarget.value })}>{times.map(([v, name]) => <option key={v} value={v}>{name}</option>)}</select>
        <select aria-label="Kind" value={of.what} onChange={(e) => set({ what: e.currentTarget.value })}><option value="">all decisions</option>{Object.entries(did).map(([v, name]) => <option key={v} value={v}>{name}</option>)}</select>
        <input aria-label="By" placeholder="By anybody; or a name" value={typed} onInput={(e) => setTyped(e.currentTarget.value)} />
        <button type="submit">Show</button>
      </form>
      {error ? <Notice bad>{error}</Notice> : !all ? <p role="status">Loading…</p> : !all.length ? <p class="empty">{next ? "Nobody has decided anything about the newest runs; older ones may have decisions." : "Nobody has decided anything yet."}</p> : <Table all={all} runs />}
      {next && <button type="button" class="more" onClick={() => void load(next)}>Look in older runs</button>}
    </div>
  );
}

/** Decisions shows who decided what about a run. */
export function Decisions({ live, run }: { live: Live; run: string }) {
  const [all, setAll] = useState<Decision[] | null>(null);
  const [error, setError] = useState("");
  useEffect(() => {
    const stop = new AbortController();
    api.decided(run, stop.signal).then((p) => setAll(p.decisions), (e) => stop.signal.aborted || setError(words(e)));
    return () => stop.abort();
  }, [run, live.log.last]);
  return (
    <div class="compare decided inrun">
      {error ? <Notice bad>{error}</Notice> : !all ? <p class="empty" role="status">Reading…</p> : !all.length ? <p class="empty">Nobody has decided anything about this run.</p> : <><p class="hint">{plural(all.length, "decision")}, the latest first. Those of a child run are on its own page.</p><Table all={all} /></>}
    </div>
  );
}

function Table({ all, runs }: { all: Decision[]; runs?: boolean }) {
  return (
    <div class="wide"><table>
      <thead><tr><th scope="col">When</th><th scope="col">Who</th><th scope="col">Decision</th>{runs && <th scope="col">Run</th>}<th scope="col">What was said</th><th scope="col" class="num">Used by then</th></tr></thead>
      <tbody>
        {all.map((d) => (
          <tr key={`${d.run}.${d.seq}`}>
            <td><a href={link(d.run, "timeline", d.seq)}>{stamp(Date.parse(d.time))}</a></td>
            <td>{d.by ? <Text of={d.by} /> : <span class="dim">not recorded</span>}</td>
            <td><span class={`did ${d.what}`}>{did[d.what] ?? d.what}</span> {d.tool && <span class="mono"><Text of={d.tool} /></span>}</td>
            {runs && <td><a href={link(d.run)}><Text of={d.agent} /></a> <Id of={d.run} /></td>}
            <td class="said"><Text of={d.text ?? ""} /></td>
            <td class="num">{number(d.tokens)} tokens{d.cost_usd != null && <><br /><span class="dim">{money(d.cost_usd)}</span></>}</td>
          </tr>
        ))}
      </tbody>
    </table></div>
  );
}
