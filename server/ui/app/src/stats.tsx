import { useEffect, useState } from "preact/hooks";
import { api, words } from "./api";
import { ended, money, number, percent, plural, stamp, tone } from "./format";
import { go, statsLink } from "./route";
import { Notice, Text } from "./text";
import type { Span, Stats } from "./types";

const spans: [string, string, number, string][] = [["24h", "last 24 hours", 864e5, "hour"], ["7d", "last 7 days", 6048e5, "day"], ["30d", "last 30 days", 2592e6, "day"], ["90d", "last 90 days", 7776e6, "day"]];
const kinds = [["good", "success"], ["limit", "at a limit"], ["stuck", "no progress"], ["bad", "failed or denied"], ["ask", "waiting"], ["live", "running"], ["off", "cancelled, paused or expired"]] as const;
type Kind = (typeof kinds)[number][0];

/** StatsPage shows cost and outcome over time, by agent or by a label. */
export function StatsPage({ query }: { query: URLSearchParams }) {
  const time = spans.find(([v]) => v === query.get("time")) ?? spans[1];
  const label = query.get("label") ?? "";
  const [typed, setTyped] = useState(label);
  const [stats, setStats] = useState<Stats | null>(null);
  const [error, setError] = useState("");
  useEffect(() => {
    const stop = new AbortController();
    setError("");
    api.stats({ by: label ? `label:${label}` : "agent", step: time[3], since: new Date(Date.now() - time[2]).toISOString() }, stop.signal)
      .then(setStats, (e) => stop.signal.aborted || setError(words(e)));
    return () => stop.abort();
  }, [time[0], label]);
  const groups = [...new Set(stats?.spans.map((s) => s.group) ?? [])].map((g) => ({ name: g, spans: stats!.spans.filter((s) => s.group === g) }));
  groups.sort((a, b) => sum(b.spans, "cost_usd") - sum(a.spans, "cost_usd") || sum(b.spans, "runs") - sum(a.spans, "runs"));
  const most = { runs: peak(groups.map((g) => g.spans), "runs"), cost: peak(groups.map((g) => g.spans), "cost_usd") };
  const whole = summed(stats?.spans ?? []);
  return (
    <div class="compare stats" data-loaded={stats ? true : undefined}>
      <h1>Cost and outcome</h1>
      <form class="filters" onSubmit={(e) => { e.preventDefault(); go(statsLink({ time: time[0], label: typed.trim() })); }}>
        <select aria-label="Time" value={time[0]} onChange={(e) => go(statsLink({ time: e.currentTarget.value, label }))}>
          {spans.map(([v, name]) => <option value={v} key={v}>{name}</option>)}
        </select>
        <input aria-label="Group by label" placeholder="By agent, or a label" value={typed} onInput={(e) => setTyped(e.currentTarget.value)} />
        <button type="submit">Show</button>
      </form>
      {error ? <Notice bad>{error}</Notice> : !stats ? <p role="status">Loading…</p> : !groups.length ? <p class="empty">No run was started then.</p> : (
        <>
          <p class="legend" aria-hidden="true">{kinds.map(([k, name]) => <span key={k}><i class={k} />{name}</span>)}</p>
          <table>
            <thead><tr><th scope="col">{label ? <Text of={label} /> : "Agent"}</th><th scope="col" class="num">Runs</th><th scope="col" class="num">Success</th><th scope="col" class="num">Cost</th><th scope="col" class="num">Per run</th><th scope="col" class="bars">Runs by {time[3]}</th><th scope="col" class="bars">Cost by {time[3]}</th></tr></thead>
            <tbody>{groups.map((g) => <Group key={g.name} name={g.name} spans={g.spans} stats={stats} most={most} />)}</tbody>
            <tfoot>
              <Group name="All" spans={whole} stats={stats} most={{ runs: peak([whole], "runs"), cost: peak([whole], "cost_usd") }} dates />
            </tfoot>
          </table>
          <p class="hint">A run counts when it was started, in UTC, and child runs with their parents. Success is that of the runs that have ended. Runs of models without a price have no cost. All rows but the sum have one scale.</p>
        </>
      )}
    </div>
  );
}

const sum = (spans: Span[], of: "runs" | "cost_usd" | "unpriced") => spans.reduce((n, s) => n + s[of], 0);

/** peak is the highest bar of several rows. */
const peak = (rows: Span[][], of: "runs" | "cost_usd") => Math.max(...rows.flat().map((s) => s[of]), 0);

/** summed is one row of all groups. */
function summed(all: Span[]): Span[] {
  const by = new Map<string, Span>();
  for (const s of all) {
    const t = by.get(s.at) ?? { at: s.at, group: "", runs: 0, statuses: {}, cost_usd: 0, unpriced: 0 };
    by.set(s.at, t);
    for (const k of ["runs", "cost_usd", "unpriced"] as const) t[k] += s[k];
    for (const [k, n] of Object.entries(s.statuses)) t.statuses[k] = (t.statuses[k] ?? 0) + n;
  }
  return [...by.values()];
}

function count(s: Span): Record<Kind, number> {
  const out = { good: 0, limit: 0, stuck: 0, bad: 0, ask: 0, live: 0, off: 0 };
  for (const [status, n] of Object.entries(s.statuses)) out[tone(status)] += n;
  return out;
}

function Group({ name, spans, stats, most, dates }: { name: string; spans: Span[]; stats: Stats; most: { runs: number; cost: number }; dates?: boolean }) {
  const runs = sum(spans, "runs");
  const priced = runs - sum(spans, "unpriced");
  const cost = sum(spans, "cost_usd");
  const good = spans.reduce((n, s) => n + count(s).good, 0);
  const over = spans.reduce((n, s) => n + ended.reduce((m, status) => m + (s.statuses[status] ?? 0), 0), 0);
  return (
    <tr>
      <th scope="row">{name ? <Text of={name} /> : <span class="dim">none</span>}</th>
      <td class="num">{number(runs)}</td>
      <td class="num">{over ? percent(good / over) : "–"}</td>
      <td class="num">{priced ? money(cost) : "–"}</td>
      <td class="num">{priced ? money(cost / priced) : "–"}</td>
      <td><Bars spans={spans} stats={stats} most={most.runs} scale={number} of={(s) => { const c = count(s); return kinds.map(([k]) => [k, c[k]]); }} say={`${plural(runs, "run")} over time`} each={(s) => `${plural(s.runs, "run")}, ${count(s).good} successful`} />{dates && <Dates stats={stats} />}</td>
      <td>{priced > 0 && <Bars spans={spans} stats={stats} most={most.cost} scale={money} of={(s) => [["money", s.cost_usd]]} say={`${money(cost)} over time`} each={(s) => money(s.cost_usd)} />}{dates && priced > 0 && <Dates stats={stats} />}</td>
    </tr>
  );
}

const times = (stats: Stats) => {
  const from = Date.parse(stats.since);
  const step = stats.seconds * 1000;
  return { from, step, n: Math.max(1, Math.ceil((Date.parse(stats.until) - from) / step)) };
};

/** Dates are the axis of time below the bars. */
function Dates({ stats }: { stats: Stats }) {
  const { from, step, n } = times(stats);
  const at = (i: number) => new Date(from + i * step).toISOString().slice(5, step < 864e5 ? 16 : 10).replace("T", " ");
  return <div class="axis"><span>{at(0)}</span><span>{at(Math.floor((n - 1) / 2))}</span><span>{at(n - 1)}</span></div>;
}

function Bars({ spans, stats, most, scale, of, say, each }: { spans: Span[]; stats: Stats; most: number; scale: (n: number) => string; of: (s: Span) => (readonly [string, number])[]; say: string; each: (s: Span) => string }) {
  const { from, step, n } = times(stats);
  return (
    <div class="plot">
      <span aria-hidden="true">{scale(most)}</span><span aria-hidden="true">0</span>
      <svg class="spark" viewBox={`0 0 ${n * 10} 40`} preserveAspectRatio="none" role="img" aria-label={say}>
        {spans.map((s) => {
          const x = Math.floor((Date.parse(s.at) - from) / step) * 10;
          let y = 40;
          return (
            <g key={s.at}>
              <title>{`${stamp(Date.parse(s.at))}: ${each(s)}`}</title>
              {of(s).map(([k, v]) => { const h = v && Math.max(1, (v / most) * 40); y -= h; return h > 0 && <rect key={k} class={k} x={x + 1} y={y} width={8} height={h} />; })}
            </g>
          );
        })}
      </svg>
    </div>
  );
}
