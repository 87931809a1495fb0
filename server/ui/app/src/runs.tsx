import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { api, words } from "./api";
import { BulkDialog, deeds, type Bulk } from "./bulk";
import { Crumbs } from "./crumbs";
import { Filters } from "./filters";
import { queryOf, range, readFilter, type Filter } from "./filter";
import { ago, argsLine, duration, money, plural, stamp, tone } from "./format";
import { useKeys } from "./keys";
import { comparing, decisionsLink, go, link, listed, parse, statsLink } from "./route";
import { StartRun } from "./start";
import { CallTool } from "./tools";
import { Labels, Notice, Status, Text } from "./text";
import type { RunLine } from "./types";
import { Views } from "./views";

export const statuses = ["running", "waiting_approval", "waiting_input", "waiting_client_tool", "waiting_doubt", "success", "exhausted", "no_progress", "failed", "plan_failed", "denied", "cancelled", "paused", "interrupted", "expired", "queued"];
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

// How many runs of a filter an action on all of them takes at most.
const mostChosen = 500;

export function Runs({ query }: { query: URLSearchParams }) {
  const address = query.toString();
  const filter = useMemo(() => readFilter(new URLSearchParams(address)), [address]);
  useEffect(() => void listed(new URLSearchParams(address)), [address]);
  // What the address says now counts: of two fields that change at once neither undoes the other.
  const set = (change: Partial<Filter>) => go(listed(queryOf({ ...readFilter(parse(location.hash).query), ...change })), true);
  const [runs, setRuns] = useState<RunLine[] | null>(null);
  const [waiting, setWaiting] = useState<RunLine[]>([]);
  const [next, setNext] = useState("");
  const { labels: now, words: sought } = useMemo(() => parts(filter.words), [filter.words]);
  const asked = JSON.stringify([{ ...filter, words: "" }, now]);
  const [error, setError] = useState("");
  const [at, setAt] = useState(0);
  const [starting, setStarting] = useState(false);
  const [calling, setCalling] = useState(false);
  const [chosen, setChosen] = useState<ReadonlyMap<string, RunLine>>(new Map());
  const [bulk, setBulk] = useState<Bulk | null>(null);
  const [, setTick] = useState(0);
  const more = useRef<RunLine[]>([]);
  const field = useRef<HTMLInputElement>(null);

  // What waits has several statuses: each is asked for, and one list is made of them.
  const wanted = () => ({ status: filter.status, agent: filter.agent, label: now, q: filter.search, min_cost: filter.min, brief: "true", ...range(filter) });
  const waits = (q: object, signal?: AbortSignal) =>
    Promise.all(statuses.filter(asks).map((s) => api.runs({ ...q, status: s, max: 200, brief: "true" }, signal)))
      .then((pages) => pages.flatMap((p) => p.runs).sort((a, b) => (a.created_at < b.created_at ? 1 : -1)));

  const load = async (signal?: AbortSignal) => {
    try {
      const forMe = filter.status === "waiting";
      const [page, all] = await Promise.all([
        forMe ? waits(wanted(), signal).then((runs) => ({ runs, next: "" })) : api.runs(wanted(), signal),
        forMe ? [] : waits({}, signal),
      ]);
      const known = new Set(page.runs.map((r) => r.run));
      setRuns([...page.runs, ...more.current.filter((r) => !known.has(r.run))]);
      if (!more.current.length) setNext(page.next);
      setWaiting(all);
      setError("");
    } catch (e) {
      if (!signal?.aborted) setError(words(e));
    }
  };

  useEffect(() => {
    more.current = [];
    setAt(0);
    setChosen(new Map());
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
  }, [asked]);

  const shown = useMemo(() => (runs ?? []).filter((r) => matches(r, sought)), [runs, sought]);
  const agents = useMemo(() => [...new Set([...(runs ?? []).map((r) => r.agent), filter.agent].filter(Boolean))].sort(), [runs, filter.agent]);
  const cursor = Math.min(at, shown.length - 1);

  const choose = (r: RunLine) => {
    const to = new Map(chosen);
    if (!to.delete(r.run)) to.set(r.run, r);
    setChosen(to);
  };
  const chooseShown = () => setChosen(shown.every((r) => chosen.has(r.run)) ? new Map() : new Map(shown.map((r) => [r.run, r])));
  const chooseAll = async () => {
    try {
      const all = [...shown];
      for (let cursor = next; cursor && all.length < mostChosen; ) {
        const p = await api.runs({ ...wanted(), cursor, max: 200 });
        all.push(...p.runs.filter((r) => matches(r, sought)));
        cursor = p.next;
      }
      setChosen(new Map(all.slice(0, mostChosen).map((r) => [r.run, r])));
    } catch (e) {
      setError(words(e));
    }
  };

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
    x: () => shown[cursor] && choose(shown[cursor]),
    "/": () => field.current?.focus(),
    n: () => setStarting(true),
    r: () => void load(),
    Escape: () => (chosen.size ? setChosen(new Map()) : set({ words: "", search: "" })),
  }, 1);

  const page = async (max?: number, signal?: AbortSignal) => {
    try {
      const p = await api.runs({ ...wanted(), cursor: next, max }, signal);
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
  }, [searching, next, asked]);

  // What is selected is as it stands now, where it is still shown.
  const fresh = new Map((runs ?? []).map((r) => [r.run, r]));
  const selected = [...chosen.values()].map((r) => fresh.get(r.run) ?? r);
  const button = (what: Bulk, name: string) => {
    const n = deeds(what, selected).length;
    return <button type="button" class={what === "cancel" ? "danger" : ""} disabled={!n} onClick={() => setBulk(what)}>{name}{n > 0 && ` ${n}`}…</button>;
  };
  return (
    <div class="runs">
      <Crumbs />
      <div class="head">
        <h1>Runs</h1>
        <a class="button" href={statsLink()}>Cost and outcome</a>
        <a class="button" href={decisionsLink()}>Decisions</a>
        <a class="button" href="#/budgets">Budgets</a>
        <button type="button" onClick={() => setCalling(true)}>Call a tool…</button>
        <button type="button" class="primary" onClick={() => setStarting(true)}>Start a run <kbd>n</kbd></button>
      </div>
      {error && <Notice bad>{error}</Notice>}
      <Views query={queryOf(filter).toString()} />
      {waiting.length > 0 && (
        <section class="waits" aria-labelledby="waits">
          <h2 id="waits">{waiting.length === 1 ? "One run waits for you" : `${waiting.length} runs wait for you`}</h2>
          <ul>
            {waiting.slice(0, 6).map((r) => <Waiting run={r} key={r.run} />)}
          </ul>
          {waiting.length > 6 && <button type="button" class="link" onClick={() => set({ status: "waiting" })}>{waiting.length - 6} more</button>}
        </section>
      )}
      <Filters filter={filter} set={set} agents={agents} field={field}>
        <span class="count" role="status">{runs ? plural(shown.length, "run") : "loading"}{searching ? ", looking in older ones…" : next && (sought.length ? ` among the latest ${runs?.length}` : ", more below")}</span>
      </Filters>
      {runs && !shown.length && !searching && (
        <div class="empty">
          {address ? "No run matches." : <>No run yet. <button type="button" class="link" onClick={() => setStarting(true)}>Start one</button>, or use <code>pawl run</code> on the same database.</>}
        </div>
      )}
      {chosen.size > 0 && (
        <div class="bulk" role="group" aria-label="Selection">
          <b role="status">{plural(chosen.size, "run")} selected</b>
          {button("approve", "Approve")}
          {button("resume", "Resume")}
          {button("cancel", "Cancel")}
          {selected.length === 2 && <a class="button" href={comparing(selected[1].run, selected[0].run)}>Compare</a>}
          {next && shown.every((r) => chosen.has(r.run)) && <button type="button" class="link" onClick={() => void chooseAll()}>Select all that match, up to {mostChosen}</button>}
          <button type="button" class="quiet" onClick={() => setChosen(new Map())}>Clear</button>
        </div>
      )}
      {shown.length > 0 && (
        <table class="list">
          <thead><tr><th scope="col" class="pick"><input type="checkbox" aria-label="Select all runs shown" checked={shown.every((r) => chosen.has(r.run))} onChange={chooseShown} /></th><th scope="col">Status</th><th scope="col">Agent</th><th scope="col">Input and answer</th><th scope="col" class="wide">Labels</th><th scope="col" class="num">Iterations</th><th scope="col" class="num">Cost</th><th scope="col" class="num">Started</th></tr></thead>
          <tbody>
            {shown.map((r, i) => (
              <tr key={r.run} data-row={i} class={i === cursor ? "at" : ""} onClick={() => go(link(r.run))} onMouseEnter={() => setAt(i)}>
                <td class="pick" onClick={(e) => e.stopPropagation()}><label><input type="checkbox" aria-label={`Select ${r.agent}, run ${r.run}`} checked={chosen.has(r.run)} onFocus={() => setAt(i)} onChange={() => choose(r)} /></label></td>
                <td class="is"><Status of={r.status} position={r.position} /></td>
                <td class="who"><a href={link(r.run)} aria-label={`${r.agent}, run ${r.run}`} onFocus={() => setAt(i)}><Text of={r.agent} /></a>{r.run.includes(".") && <span class="tag">child</span>}<span class="mono id">{r.run}</span></td>
                <td class="says"><Says run={r} /></td>
                <td class="wide"><Labels of={r.labels} /></td>
                <td class="num turns">{r.iterations}</td>
                <td class="num cost">{money(r.cost_usd)}</td>
                <td class="num began"><time dateTime={r.created_at} title={stamp(Date.parse(r.created_at))}>{ago(Date.parse(r.created_at))}</time></td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {next && <button type="button" class="more" onClick={() => page()}>Older runs</button>}
      {starting && <StartRun close={() => setStarting(false)} />}
      {calling && <CallTool close={() => setCalling(false)} />}
      {bulk && <BulkDialog what={bulk} runs={selected} close={() => { setBulk(null); setChosen(new Map()); void load(); }} />}
    </div>
  );
}

const needs: Record<string, string> = { approval: "Approve", input: "Answer", client_tool: "Submit", doubt: "Settle" };

/** Says is what a run was asked, and what it answered or waits for. */
function Says({ run: r }: { run: RunLine }) {
  const p = r.waits?.find((w) => !w.answered_at);
  return (
    <>
      <span class="input"><Text of={r.input || "–"} /></span>
      {p
        ? <span class="then ask">{needs[p.kind]}: <Text of={p.kind === "input" ? p.reason : `${p.tool}  ${argsLine(p.args)}`} />{(r.waits?.length ?? 0) > 1 && `, and ${r.waits!.length - 1} more`}</span>
        : r.answer && <span class="then"><Text of={r.answer} /></span>}
    </>
  );
}

function Waiting({ run }: { run: RunLine }) {
  const p = run.waits?.[0];
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
