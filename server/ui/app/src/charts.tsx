import { useMemo } from "preact/hooks";
import type { Log } from "./fold";
import { money, number, percent, short } from "./format";

// Charts over the iterations, drawn as SVG by hand: bars for what each iteration
// took, a line for the sum, and the limit as a rule. Charts without data, such as cost
// without a price, are left out.

interface Bin { from: number; to: number; fresh: number; cached: number; output: number; cost: number; input: number; seq: number }

function bins(log: Log, most: number): Bin[] {
  const turns = log.turns.filter((t) => t.input + t.output > 0);
  const per = Math.max(1, Math.ceil(turns.length / most));
  const out: Bin[] = [];
  for (let i = 0; i < turns.length; i += per) {
    const part = turns.slice(i, i + per);
    const sum = (f: (t: (typeof part)[0]) => number) => part.reduce((n, t) => n + f(t), 0);
    out.push({
      from: part[0].iteration, to: part[part.length - 1].iteration, seq: part[0].spans[0].seq,
      fresh: sum((t) => t.input - t.cached), cached: sum((t) => t.cached), output: sum((t) => t.output), input: sum((t) => t.input), cost: sum((t) => t.cost),
    });
  }
  return out;
}

export function Charts({ log, version, open }: { log: Log; version: number; open: (tab: string, seq?: number) => void }) {
  const all = useMemo(() => bins(log, 120), [log, version]);
  if (!all.length) return <div class="empty">No model call is recorded yet.</div>;
  const l = log.limits;
  const per = all[0].to - all[0].from + 1;
  const unit = per > 1 ? `each bar is ${per} iterations` : "each bar is an iteration";
  const go = (b: Bin) => open("timeline", b.seq);
  return (
    <div class="charts">
      <Chart title="Tokens" note={unit} bins={all} stacks={[["fresh", "input", (b) => b.fresh], ...(log.cached > 0 ? [["cached", "input from cache", (b: Bin) => b.cached] as Stack] : []), ["output", "output", (b) => b.output]]} limit={l.tokens} say={short} exact={number} go={go} />
      {log.priced && <Chart title="Dollars" note={unit} bins={all} stacks={[["money", "dollars", (b) => b.cost]]} limit={l.cost} say={money} exact={money} go={go} />}
      {log.cached > 0 && <Hits bins={all} go={go} />}
    </div>
  );
}

const W = innerWidth < 700 ? 400 : 720; // keeps letters readable on phones
const H = 190;
const L = 54;
const R = 58;
const T = 14;
const B = 24;

// broad is the width of a bar.
const broad = (w: number) => Math.min(Math.max(w - Math.min(3, w * 0.24), 0.5), 44);

type Stack = [string, string, (b: Bin) => number];

function Chart({ title, note, bins, stacks, limit, say, exact, go }: { title: string; note: string; bins: Bin[]; stacks: Stack[]; limit?: number; say: (n: number) => string; exact: (n: number) => string; go: (b: Bin) => void }) {
  const sums = bins.map((b) => stacks.reduce((n, [, , f]) => n + f(b), 0));
  const max = nice(Math.max(...sums, 1e-9));
  let run = 0;
  const total = sums.map((n) => (run += n));
  // Draw the limit once the sum is near enough to see both.
  const near = limit && run > limit / 6 ? limit : 0;
  const top = nice(Math.max(run, near || 0));
  const w = (W - L - R) / bins.length;
  const y = (n: number) => T + (H - T - B) * (1 - n / max);
  const y2 = (n: number) => T + (H - T - B) * (1 - n / top);
  return (
    <figure class="chart">
      <figcaption><h2>{title}</h2> <b>{exact(run)}</b> {limit ? <>of {exact(limit)}, {percent(run / limit)}</> : "in all, no ceiling"} <span class="hint">{note}; the line is the sum</span>
        <span class="legend">{stacks.length > 1 && stacks.map(([c, name]) => <span key={c}><i class={c} />{name}</span>)}<span><i class="sum" />sum</span>{near ? <span><i class="ceiling" />ceiling</span> : null}</span>
      </figcaption>
      <svg viewBox={`0 0 ${W} ${H}`} role="img" aria-label={`${title} by iteration: ${exact(run)} in all`}>
        {[0, 0.5, 1].map((p) => <g key={p}><path class="grid" d={`M${L} ${y(max * p)}H${W - R}`} /><text x={L - 6} y={y(max * p) + 4} class="end">{say(max * p)}</text><text x={W - R + 6} y={y(max * p) + 4} class="right">{say(top * p)}</text></g>)}
        {bins.map((b, i) => {
          let at = 0;
          return (
            <g key={b.from} class="hot" onClick={() => go(b)}>
              <title>{`${label(b)}: ${stacks.map(([, name, f]) => `${exact(f(b))} ${name}`).join(", ")}`}</title>
              <rect class="back" x={L + i * w} y={T} width={w} height={H - T - B} />
              {stacks.map(([c, , f]) => {
                const n = f(b);
                at += n;
                return <rect key={c} class={c} x={L + i * w + (w - broad(w)) / 2} width={broad(w)} y={y(at)} height={Math.max(0, y(at - n) - y(at))} />;
              })}
            </g>
          );
        })}
        <path class="sum" d={total.map((n, i) => `${i ? "L" : "M"}${L + (i + 0.5) * w} ${y2(n)}`).join("")} />
        {near ? <path class="ceiling" d={`M${L} ${y2(near)}H${W - R}`} /> : null}
        <Ticks bins={bins} w={w} />
      </svg>
    </figure>
  );
}

function Hits({ bins, go }: { bins: Bin[]; go: (b: Bin) => void }) {
  const w = (W - L - R) / bins.length;
  const y = (n: number) => T + (H - T - B) * (1 - n);
  const input = bins.reduce((n, b) => n + b.input, 0);
  const cached = bins.reduce((n, b) => n + b.cached, 0);
  return (
    <figure class="chart">
      <figcaption><h2>Cache</h2> <b>{percent(input ? cached / input : 0)}</b> of all input was read from the provider's cache <span class="hint">by iteration</span></figcaption>
      <svg viewBox={`0 0 ${W} ${H}`} role="img" aria-label={`Share of input read from cache by iteration: ${percent(input ? cached / input : 0)} in all`}>
        {[0, 0.5, 1].map((p) => <g key={p}><path class="grid" d={`M${L} ${y(p)}H${W - R}`} /><text x={L - 6} y={y(p) + 4} class="end">{percent(p)}</text></g>)}
        {bins.map((b, i) => {
          const hit = b.input ? b.cached / b.input : 0;
          return (
            <g key={b.from} class="hot" onClick={() => go(b)}>
              <title>{`${label(b)}: ${percent(hit)}, ${number(b.cached)} of ${number(b.input)} tokens`}</title>
              <rect class="back" x={L + i * w} y={T} width={w} height={H - T - B} />
              <rect class="cached" x={L + i * w + (w - broad(w)) / 2} width={broad(w)} y={y(hit)} height={y(0) - y(hit)} />
            </g>
          );
        })}
        <Ticks bins={bins} w={w} />
      </svg>
    </figure>
  );
}

function Ticks({ bins, w }: { bins: Bin[]; w: number }) {
  const every = Math.max(1, Math.ceil(bins.length / 12));
  return <g>{bins.map((b, i) => (i % every === 0 ? <text key={b.from} x={L + (i + 0.5) * w} y={H - 7} class="mid">{b.from}</text> : null))}</g>;
}

function label(b: Bin): string {
  return b.from === b.to ? `iteration ${b.from}` : `iterations ${b.from} to ${b.to}`;
}

function nice(n: number): number {
  const unit = 10 ** Math.floor(Math.log10(n));
  return ([1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((k) => k * unit >= n * 0.9999) ?? 10) * unit;
}
