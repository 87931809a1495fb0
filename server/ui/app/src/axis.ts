import type { Log, Span } from "./fold";

// An Axis maps times to a line on which idle stretches, above all waits for
// people, are compressed: a night in the log is a notch here.

export interface Axis {
  at(t: number): number; // 0..1; outside for times outside the run
  breaks: { x0: number; x1: number; ms: number }[];
  ticks: { x: number; ms: number }[];
  span: number; // milliseconds shown at full length
  t0: number;
}

interface Piece { t0: number; t1: number; w0: number; w1: number }

/** axis is made for the spans that are to be seen, of which some still go on. */
export function axis(spans: Span[], now: number): Axis {
  const busy: [number, number][] = [];
  let t0 = Infinity;
  let t1 = -Infinity;
  for (const s of spans) {
    t0 = Math.min(t0, s.t0);
    t1 = Math.max(t1, s.t1);
    for (const g of s.segs) {
      const end = g.t1 ?? now;
      t1 = Math.max(t1, end);
      if (g.kind !== "wait") busy.push([g.t0, end]);
    }
  }
  if (!isFinite(t0)) t0 = t1 = now;
  if (t1 <= t0) t1 = t0 + 1;
  busy.sort((a, b) => a[0] - b[0]);
  let active = 0;
  const gaps: [number, number][] = [];
  let end = t0;
  for (const [a, b] of busy) {
    if (a > end) gaps.push([end, a]);
    active += Math.max(0, b - Math.max(a, end));
    end = Math.max(end, b);
  }
  if (t1 > end) gaps.push([end, t1]);
  // Compress gaps that are long for this chart and long for a person.
  const long = Math.max(active / 8, 50);
  const folded = gaps.filter(([a, b]) => b - a > long);
  const short = t1 - t0 - folded.reduce((sum, [a, b]) => sum + b - a, 0);
  const room = Math.min(0.4, folded.length * 0.06);
  const each = folded.length ? (Math.max(short, 1) * room) / (1 - room) / folded.length : 0;
  const pieces: Piece[] = [];
  let w = 0;
  let t = t0;
  const breaks: Axis["breaks"] = [];
  const push = (to: number, width: number) => {
    if (to > t || width > 0) pieces.push({ t0: t, t1: to, w0: w, w1: w + width });
    t = to;
    w += width;
  };
  for (const [a, b] of folded) {
    push(a, a - t);
    breaks.push({ x0: w, x1: w + each, ms: b - a });
    push(b, each);
  }
  push(t1, t1 - t);
  const total = w || 1;
  const at = (x: number): number => {
    if (x <= t0) return 0;
    if (x >= t1) return 1;
    let lo = 0;
    let hi = pieces.length - 1;
    while (lo < hi) {
      const mid = (lo + hi) >> 1;
      if (pieces[mid].t1 < x) lo = mid + 1;
      else hi = mid;
    }
    const p = pieces[lo];
    const part = p.t1 > p.t0 ? (x - p.t0) / (p.t1 - p.t0) : 1;
    return (p.w0 + part * (p.w1 - p.w0)) / total;
  };
  for (const b of breaks) {
    b.x0 /= total;
    b.x1 /= total;
  }
  return { at, breaks, ticks: ticks(total, breaks), span: total, t0 };
}

// Ticks count drawn time, without compressed gaps, in round numbers. None stands where the label
// of a gap or of another tick does.
function ticks(total: number, breaks: Axis["breaks"]): Axis["ticks"] {
  const gaps = breaks.reduce((sum, b) => sum + b.x1 - b.x0, 0) * total;
  const raw = (total - gaps) / 5;
  const unit = 10 ** Math.floor(Math.log10(raw));
  const step = Math.max(1, [1, 2, 5, 10].map((n) => n * unit).find((n) => n >= raw) ?? raw); // labels are no finer
  const out: Axis["ticks"] = [];
  for (let ms = 0; ms < total - gaps; ms += step) {
    let x = ms / total;
    for (const b of breaks) if (b.x0 < x || (b.x0 === x && ms > 0)) x += b.x1 - b.x0;
    if (x > 0.93 || out.some((t) => x - t.x < 0.09) || breaks.some((b) => Math.abs(x + 0.03 - (b.x0 + b.x1) / 2) < 0.1 && b.x1 - b.x0 > 0.03)) continue;
    out.push({ x, ms });
  }
  return out;
}

/** overview is the run as a ratchet: a tooth for each turn, or for several when there are many. */
export interface Tooth { from: number; to: number; height: number; bad: boolean; waited: boolean; open: boolean }

export function overview(log: Log, most: number): Tooth[] {
  const turns = log.turns;
  const per = Math.max(1, Math.ceil(turns.length / most));
  const out: Tooth[] = [];
  for (let i = 0; i < turns.length; i += per) {
    const part = turns.slice(i, i + per);
    out.push({
      from: part[0].iteration,
      to: part[part.length - 1].iteration,
      height: part.reduce((m, t) => Math.max(m, t.input + t.output), 0),
      bad: part.some((t) => t.bad > 0),
      waited: part.some((t) => t.waited),
      open: i + per >= turns.length && !log.ended,
    });
  }
  const max = Math.max(1, ...out.map((t) => t.height));
  for (const t of out) t.height = t.height / max;
  return out;
}
