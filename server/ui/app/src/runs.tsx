import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { api, words } from "./api";
import { Crumbs } from "./crumbs";
import { ago, argsLine, duration, money, plural, stamp, statusWords, tone } from "./format";
import { useKeys } from "./keys";
import { go, link } from "./route";
import { StartRun } from "./start";
import { Labels, Notice, Status, Text } from "./text";
import type { Result, RunLine } from "./types";

const statuses = ["running", "waiting_approval", "waiting_input", "waiting_client_tool", "waiting_doubt", "success", "exhausted", "no_progress", "failed", "plan_failed", "denied", "cancelled", "paused", "interrupted", "expired", "queued"];
const asks = (s: string) => tone(s) === "ask" && s !== "expired";

/** parts are the labels of a filter, which the server looks for, and its other words, which are looked for here. What has spaces in it stands in quotes, or some of it. */
export function parts(filter: string): { labels: string[]; words: string[] } {
  const all = (filter.match(/(?:[^\s"]|"[^"]*"?)+/g) ?? []).map((w) => w.replaceAll('"', "")).filter(Boolean);
  const label = (w: string) => /^[^=]+=./.test(w);
  return { labels: all.filter(label), words: all.filter((w) => !label(w)) };
}

/** matches says whether a run has every word: in its id, agent or status, or in a label. */
export function matches(r: RunLine, words: string[]): boolean {
  const all = [r.run, r.agent, r.status, ...Object.entries(r.labels ?? {}).map(([k, v]) => `${k}=${v}`)].join(" ").toLowerCase();
  return words.every((w) => all.includes(w.toLowerCase()));
}

// How many runs a search reads, and how many matches it shows at first.
const mostSearched = 2000;
const enoughFound = 20;

export function Runs() {
  const [runs, setRuns] = useState<RunLine[] | null>(null);
  const [waiting, setWaiting] = useState<RunLine[]>([]);
  const [next, setNext] = useState("");
  const [status, setStatus] = useState("");
  const [agent, setAgent] = useState("");
  const [filter, setFilter] = useState("");
  const [labels, setLabels] = useState<string[]>([]);
  const { words: sought } = useMemo(() => parts(filter), [filter]);
  const [error, setError] = useState("");
  const [at, setAt] = useState(0);
  const [starting, setStarting] = useState(false);
  const [, setTick] = useState(0);
  const more = useRef<RunLine[]>([]);
  const field = useRef<HTMLInputElement>(null);

  const load = async (signal?: AbortSignal) => {
    try {
      const [page, ...asked] = await Promise.all([
        api.runs({ status, agent, label: labels }, signal),
        ...statuses.filter(asks).map((s) => api.runs({ status: s }, signal)),
      ]);
      const known = new Set(page.runs.map((r) => r.run));
      setRuns([...page.runs, ...more.current.filter((r) => !known.has(r.run))]);
      if (!more.current.length) setNext(page.next);
      setWaiting(asked.flatMap((p) => p.runs).sort((a, b) => (a.created_at < b.created_at ? 1 : -1)));
      setError("");
    } catch (e) {
      if (!signal?.aborted) setError(words(e));
    }
  };

  useEffect(() => {
    more.current = [];
    setAt(0);
    const stop = new AbortController();
    let timer = 0;
    // A hidden page does not poll.
    const turn = async () => {
      if (!document.hidden) await load(stop.signal);
      setTick((n) => n + 1);
      if (!stop.signal.aborted) timer = window.setTimeout(turn, 2000);
    };
    turn();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [status, agent, labels]);

  // Query labels when they are complete, not at each letter.
  useEffect(() => {
    const now = parts(filter).labels;
    if (JSON.stringify(now) === JSON.stringify(labels)) return;
    const timer = window.setTimeout(() => setLabels(now), 300);
    return () => clearTimeout(timer);
  }, [filter, labels]);

  const shown = useMemo(() => (runs ?? []).filter((r) => matches(r, sought)), [runs, sought]);
  const agents = useMemo(() => [...new Set([...(runs ?? []).map((r) => r.agent), agent].filter(Boolean))].sort(), [runs, agent]);
  const cursor = Math.min(at, shown.length - 1);

  const move = (n: number) => {
    const to = Math.max(0, Math.min(shown.length - 1, cursor + n));
    setAt(to);
    document.querySelector(`[data-row="${to}"]`)?.scrollIntoView({ block: "nearest" });
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    Home: () => move(-Infinity),
    End: () => move(Infinity),
    Enter: () => shown[cursor] && go(link(shown[cursor].run)),
    o: () => shown[cursor] && go(link(shown[cursor].run)),
    "/": () => field.current?.focus(),
    n: () => setStarting(true),
    r: () => void load(),
    Escape: () => setFilter(""),
  }, 1);

  const page = async (max?: number, signal?: AbortSignal) => {
    try {
      const p = await api.runs({ status, agent, label: labels, cursor: next, max }, signal);
      more.current = [...(runs ?? []), ...p.runs];
      setRuns(more.current);
      setNext(p.next);
    } catch (e) {
      if (!signal?.aborted) setError(words(e));
    }
  };
  // Search older runs, too, until there is something to show.
  const searching = sought.length > 0 && !!next && shown.length < enoughFound && (runs?.length ?? 0) < mostSearched && !error;
  useEffect(() => {
    if (!searching) return;
    const stop = new AbortController();
    const timer = window.setTimeout(() => void page(200, stop.signal), 200);
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [searching, next, labels]);

  return (
    <div class="runs">
      <Crumbs />
      <div class="head">
        <h1>Runs</h1>
        <button type="button" class="primary" onClick={() => setStarting(true)}>Start a run <kbd>n</kbd></button>
      </div>
      {error && <Notice bad>{error}</Notice>}
      {waiting.length > 0 && (
        <section class="waits" aria-labelledby="waits">
          <h2 id="waits">{waiting.length === 1 ? "One run waits for you" : `${waiting.length} runs wait for you`}</h2>
          <ul>
            {waiting.slice(0, 6).map((r) => <Waiting run={r} key={r.run} />)}
          </ul>
          {waiting.length > 6 && <button type="button" class="link" onClick={() => setStatus(waiting[6].status)}>{waiting.length - 6} more</button>}
        </section>
      )}
      <div class="filters" role="search">
        <input ref={field} type="search" placeholder="Filter by id, agent, label=value" aria-label="Filter" value={filter} onInput={(e) => setFilter(e.currentTarget.value)} />
        <select aria-label="Status" value={status} onChange={(e) => setStatus(e.currentTarget.value)}>
          <option value="">Any status</option>
          {statuses.map((s) => <option value={s} key={s}>{statusWords[s]}</option>)}
        </select>
        <select aria-label="Agent" value={agent} onChange={(e) => setAgent(e.currentTarget.value)}>
          <option value="">Any agent</option>
          {agents.map((a) => <option value={a} key={a}>{a}</option>)}
        </select>
        <span class="count" role="status">{runs ? plural(shown.length, "run") : "loading"}{searching ? ", looking in older ones…" : next && (sought.length ? ` among the latest ${runs?.length}` : ", more below")}</span>
      </div>
      {runs && !shown.length && !searching && (
        <div class="empty">
          {filter || status || agent ? "No run matches." : <>No run yet. <button type="button" class="link" onClick={() => setStarting(true)}>Start one</button>, or use <code>pawl run</code> on the same database.</>}
        </div>
      )}
      {shown.length > 0 && (
        <table class="list">
          <thead><tr><th scope="col">Status</th><th scope="col">Agent</th><th scope="col" class="wide">Run</th><th scope="col" class="wide">Labels</th><th scope="col" class="num">Iterations</th><th scope="col" class="num">Cost</th><th scope="col" class="num">Started</th></tr></thead>
          <tbody>
            {shown.map((r, i) => (
              <tr key={r.run} data-row={i} class={i === cursor ? "at" : ""} onClick={() => go(link(r.run))} onMouseEnter={() => setAt(i)}>
                <td><Status of={r.status} /></td>
                <td><a href={link(r.run)} aria-label={`${r.agent}, run ${r.run}`} onFocus={() => setAt(i)}><Text of={r.agent} /></a>{r.run.includes(".") && <span class="tag">child</span>}</td>
                <td class="wide mono id">{r.run}</td>
                <td class="wide"><Labels of={r.labels} /></td>
                <td class="num">{r.iterations}</td>
                <td class="num">{money(r.cost_usd)}</td>
                <td class="num"><time dateTime={r.created_at} title={stamp(Date.parse(r.created_at))}>{ago(Date.parse(r.created_at))}</time></td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {next && <button type="button" class="more" onClick={() => page()}>Older runs</button>}
      {starting && <StartRun close={() => setStarting(false)} />}
    </div>
  );
}

function Waiting({ run }: { run: RunLine }) {
  const [result, setResult] = useState<Result | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    api.run(run.run, stop.signal).then(setResult, () => {});
    return () => stop.abort();
  }, [run.run, run.status, run.iterations]);
  const p = result?.pending[0];
  return (
    <li>
      <a href={link(run.run)}>
        <Status of={run.status} />
        <b><Text of={run.agent} /></b>
        <span class="what">{p ? <Text of={p.kind === "input" ? p.reason : `${p.tool}  ${argsLine(p.args)}`} /> : "…"}</span>
        <span class="when">{p?.expires_at ? `${duration(Date.parse(p.expires_at) - Date.now())} left` : ago(Date.parse(run.created_at))}</span>
      </a>
    </li>
  );
}
