import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { api, words } from "./api";
import { BulkDialog, deeds, type Bulk } from "./bulk";
import { Filters } from "./filters";
import { queryOf, range, readFilter, sought, type Filter } from "./filter";
import { ago, argsLine, duration, money, now, plural, stamp } from "./format";
import { useKeys } from "./keys";
import { comparing, go, link, listed, parse } from "./route";
import { StartRun } from "./start";
import { Id, Labels, Notice, Status, Text } from "./text";
import type { RunLine } from "./types";
import { Views } from "./views";

// How many runs of a filter an action on all of them takes at most.
const mostChosen = 500;

export function Runs({ query }: { query: URLSearchParams }) {
  const address = query.toString();
  const filter = useMemo(() => readFilter(new URLSearchParams(address)), [address]);
  useEffect(() => void listed(new URLSearchParams(address)), [address]);
  // What the address says now counts: of two fields that change at once neither undoes the other.
  const set = (change: Partial<Filter>) => go(listed(queryOf({ ...readFilter(parse(location.hash).query), ...change })), true);
  const [runs, setRuns] = useState<RunLine[] | null>(null);
  const [next, setNext] = useState("");
  const [error, setError] = useState("");
  const [at, setAt] = useState(0);
  const [starting, setStarting] = useState(false);
  const [chosen, setChosen] = useState<ReadonlyMap<string, RunLine>>(new Map());
  const [bulk, setBulk] = useState<Bulk | null>(null);
  const [, setTick] = useState(0);
  const waiting = filter.status === "waiting";
  const more = useRef<RunLine[]>([]);
  const field = useRef<HTMLInputElement>(null);

  const wanted = () => ({ status: filter.status, agent: filter.agent, ...sought(filter.search), min_cost: filter.min, brief: "true", ...range(filter) });
  const load = async (signal?: AbortSignal) => {
    try {
      const page = await api.runs({ ...wanted(), max: filter.status === "waiting" ? 200 : undefined }, signal);
      const known = new Set(page.runs.map((r) => r.run));
      setRuns([...page.runs, ...more.current.filter((r) => !known.has(r.run))]);
      if (!more.current.length) setNext(page.next);
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
  }, [address]);

  const shown = runs ?? [];
  const agents = useMemo(() => [...new Set([...(runs ?? []).map((r) => r.agent), filter.agent].filter(Boolean))].sort(), [runs, filter.agent]);
  const leaves = shown.some(left);
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
        all.push(...p.runs);
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
    Escape: () => (chosen.size ? setChosen(new Map()) : set({ search: "" })),
  }, 1);

  const page = async () => {
    try {
      const p = await api.runs({ ...wanted(), cursor: next });
      more.current = [...shown, ...p.runs];
      setRuns(more.current);
      setNext(p.next);
    } catch (e) {
      setError(words(e));
    }
  };

  // What is selected is as it stands now, where it is still shown.
  const fresh = new Map((runs ?? []).map((r) => [r.run, r]));
  const selected = [...chosen.values()].map((r) => fresh.get(r.run) ?? r);
  const button = (what: Bulk, name: string) => {
    const n = deeds(what, selected).length;
    return <button type="button" class={what === "cancel" ? "danger" : ""} disabled={!n} onClick={() => setBulk(what)}>{name}{n > 0 && ` ${n}`}…</button>;
  };
  return (
    <div class="runs">
      <div class="head">
        <h1>{waiting ? "Waiting" : "Runs"}</h1>
        <button type="button" class="primary" onClick={() => setStarting(true)}>Start a run <kbd>n</kbd></button>
      </div>
      {error && <Notice bad>{error}</Notice>}
      <Views query={queryOf(filter).toString()} />
      <Filters filter={filter} set={set} agents={agents} field={field}>
        <span class="count" role="status">{runs ? plural(shown.length, "run") : error ? "" : "loading"}{next && ", more below"}</span>
      </Filters>
      {runs && !shown.length && !error && (
        <div class="empty">
          {address === "status=waiting" ? "No run waits for anybody." : address ? "No run matches." : <>No run yet. <button type="button" class="link" onClick={() => setStarting(true)}>Start one</button>, or use <code>pawl run</code> on the same database.</>}
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
        <table class={`list ${waiting ? "waiting" : ""}`}>
          <thead><tr><th scope="col" class="pick"><input type="checkbox" aria-label="Select all runs shown" checked={shown.every((r) => chosen.has(r.run))} onChange={chooseShown} /></th><th scope="col">Status</th><th scope="col">Agent</th><th scope="col">Input and answer</th><th scope="col" class="wide">Labels</th><th scope="col" class="num">Iterations</th><th scope="col" class="num">Cost</th><th scope="col" class="num">Started</th>{leaves && <th scope="col" class="num left">Time left</th>}</tr></thead>
          <tbody>
            {shown.map((r, i) => (
              <tr key={r.run} data-row={i} class={i === cursor ? "at" : ""} onClick={() => go(link(r.run))} onMouseEnter={() => setAt(i)}>
                <td class="pick" onClick={(e) => e.stopPropagation()}><label><input type="checkbox" aria-label={`Select ${r.agent}, run ${r.run}`} checked={chosen.has(r.run)} onFocus={() => setAt(i)} onChange={() => choose(r)} /></label></td>
                <td class="is"><Status of={r.status} position={r.position} /></td>
                <td class="who"><a href={link(r.run)} aria-label={`${r.agent}, run ${r.run}`} onFocus={() => setAt(i)}><Text of={r.agent} /></a>{r.run.includes(".") && <span class="tag">child</span>}<Id of={r.run} /></td>
                <td class="says"><Says run={r} all={waiting} /></td>
                <td class="wide"><Labels of={r.labels} /></td>
                <td class="num turns">{r.iterations}</td>
                <td class="num cost">{money(r.cost_usd)}</td>
                <td class="num began"><time dateTime={r.created_at} title={stamp(Date.parse(r.created_at))}>{ago(Date.parse(r.created_at))}</time></td>
                {leaves && <td class="num left">{left(r)}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {next && <button type="button" class="more" onClick={() => void page()}>Older runs</button>}
      {starting && <StartRun close={() => setStarting(false)} />}
      {bulk && <BulkDialog what={bulk} runs={selected} close={() => { setBulk(null); setChosen(new Map()); void load(); }} />}
    </div>
  );
}

const needs: Record<string, string> = { approval: "Approve", input: "Answer", client_tool: "Submit", doubt: "Settle" };

/** Says is what a run was asked, and what it answered or waits for: the first of it, or all. */
function Says({ run: r, all }: { run: RunLine; all: boolean }) {
  const open = (r.waits ?? []).filter((w) => !w.answered_at);
  return (
    <>
      <span class="input"><Text of={r.input || "–"} /></span>
      {(all ? open : open.slice(0, 1)).map((p) => (
        <span class="then ask" key={p.run + p.call}>{needs[p.kind]}: <Text of={p.kind === "input" ? p.reason : `${p.tool}  ${argsLine(p.args)}`} />{!all && open.length > 1 && `, and ${open.length - 1} more`}</span>
      ))}
      {!open.length && r.answer && <span class="then"><Text of={r.answer} /></span>}
    </>
  );
}

/** left is how long what a run waits for can still be decided; empty: for ever. */
function left(r: RunLine): string {
  const ends = (r.status === "expired" ? [] : r.waits ?? []).flatMap((p) => (p.expires_at && !p.answered_at ? Date.parse(p.expires_at) : []));
  return ends.length ? duration(Math.min(...ends) - now()) : "";
}
