import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Doing } from "./actions";
import { axis, overview, type Axis } from "./axis";
import { Detail } from "./detail";
import { busy, type Log, type Seg, type Span, type Turn } from "./fold";
import { duration, money, now, plural, short } from "./format";
import { useKeys } from "./keys";
import { conversationOf, holds, useChildren, type Row } from "./rows";
import { Far, Status, Text } from "./text";
import type { Leg } from "./types";
import type { Live } from "./use-run";

const ROW = 26; // pixels, as in the style sheet

type Mode = "run" | "turn";

export function Timeline({ live, legs, run, picked, pick, open, setDoing }: { live: Live; legs: Leg[]; run: string; picked: number; pick: (seq: number) => void; open: (tab: string, seq?: number) => void; setDoing: (d: Doing) => void }) {
  const { log, version, status } = live;
  const [folded, setFolded] = useState<Set<number>>(() => new Set());
  const [quiet, setQuiet] = useState(false);
  const [find, setFind] = useState("");
  const [follow, setFollow] = useState(true);
  const [wanted, setMode] = useState<Mode | null>(null);
  const [key, setKey] = useState("");
  const [detail, setDetail] = useState(false); // on a phone it covers the page
  const { opened, toggle } = useChildren();
  const box = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  const ended = live.ended;
  const until = useNow(ended || !live.loaded ? 0 : log.turning ? 250 : 1000);

  const mode: Mode = wanted ?? (log.turns.length > 12 ? "turn" : "run");
  const rows = useMemo(() => conversationOf(log, { folded, opened, quiet, legs, run }), [log, version, folded, opened, quiet, legs, run]);
  const found = useMemo(() => (find.trim() ? finds(rows, find) : null), [rows, find]);

  let at = rows.findIndex((r) => r.key === key);
  if (at < 0 && picked) at = rows.findIndex((r) => holds(r, picked));
  if (at < 0 && picked) at = rows.findIndex((r) => r.log === log && r.turn.iteration === log.entries[picked - 1]?.iteration);
  const row = at >= 0 ? rows[at] : null;

  const first = Math.max(0, Math.floor(top / ROW) - 6);
  const last = Math.min(rows.length, Math.ceil((top + height) / ROW) + 6);
  const visible = rows.slice(first, last);

  const whole = useMemo(() => {
    if (mode !== "run") return null;
    const logs = legs.length ? legs.map((l) => (l.run === run ? log : opened.get(l.run))) : [log];
    return axis(logs.flatMap((l) => l?.turns ?? []).flatMap((t) => t.spans), until);
  }, [mode, version, legs, opened, mode === "run" ? until : 0]);
  const away = (r: Row) => legs.some((l) => l.run !== run && (r.key.startsWith(`${l.run}/`) || r.key.startsWith(`${l.run}.`)));
  const own = new Map<Turn, Axis>();
  const axisOf = (r: Row): Axis => {
    if (whole && !r.key.includes("/")) return whole;
    if (whole) return whole; // a child's bars use its parent's time
    const turn = r.key.includes("/") && !away(r) ? log.turn(rootTurn(rows, r)) ?? r.turn : r.turn;
    let a = own.get(turn);
    if (!a) own.set(turn, (a = axis(turn.spans, until)));
    return a;
  };
  const longest = useMemo(() => log.turns.reduce((m, t) => Math.max(m, turnTime(t, until)), 1), [version, until]);

  useLayoutEffect(() => {
    const el = box.current!;
    const size = () => setHeight(el.clientHeight);
    const watch = new ResizeObserver(size);
    watch.observe(el);
    size();
    return () => watch.disconnect();
  }, []);
  useEffect(() => {
    if (rows.length && !performance.getEntriesByName("pawl.timeline").length) requestAnimationFrame(() => performance.mark("pawl.timeline"));
  }, [rows.length > 0]);

  const jump = useRef(false); // the next scroll event is ours
  const show = (i: number, block: "near" | "mid" = "near") => {
    const el = box.current;
    if (!el) return;
    const y = i * ROW;
    if (block === "mid") el.scrollTop = y - el.clientHeight / 2;
    else if (y < el.scrollTop) el.scrollTop = y;
    else if (y + ROW > el.scrollTop + el.clientHeight) el.scrollTop = y + ROW - el.clientHeight;
  };
  // Follow the live end until the user scrolls away from it or selects something.
  const tailing = follow && live.loaded && !ended && !row;
  useLayoutEffect(() => {
    if (!tailing || !box.current) return;
    jump.current = true;
    box.current.scrollTop = rows.length * ROW;
  }, [rows.length, tailing, height]);
  const placed = useRef(false);
  useLayoutEffect(() => {
    if (placed.current || at < 0) return;
    placed.current = true;
    show(at, "mid");
  }, [at]);

  const choose = (i: number) => {
    const r = rows[Math.max(0, Math.min(rows.length - 1, i))];
    if (!r) return;
    setKey(r.key);
    if (!r.key.includes("/")) pick(r.span ? r.span.seq : r.turn.spans[0]?.seq ?? 0);
    show(rows.indexOf(r));
  };
  const leave = () => {
    setKey("");
    pick(0);
    setDetail(false);
  };
  const fold = (r: Row, shut: boolean) => {
    const child = r.leg?.run ?? r.span?.child;
    if (child) {
      if (r.opens && opened.has(child) === shut) void toggle(child);
    } else if (!r.span && r.depth === 0) {
      const s = new Set(folded);
      if (shut) s.add(r.turn.iteration);
      else s.delete(r.turn.iteration);
      setFolded(s);
    } else if (shut) choose(rows.findIndex((x) => !x.span && x.turn === r.turn && x.log === r.log));
  };
  const seek = (step: number, ok: (r: Row) => boolean) => {
    for (let i = (at < 0 ? (step > 0 ? -1 : rows.length) : at) + step; i >= 0 && i < rows.length; i += step) if (ok(rows[i])) return choose(i);
  };
  useKeys({
    j: () => choose(at < 0 ? first : at + 1),
    k: () => choose(at < 0 ? last - 1 : at - 1),
    ArrowDown: () => choose(at < 0 ? 0 : at + 1),
    ArrowUp: () => choose(at < 0 ? rows.length - 1 : at - 1),
    PageDown: () => choose(Math.max(at, first) + Math.floor(height / ROW) - 1),
    PageUp: () => choose(Math.max(at, 0) - Math.floor(height / ROW) + 1),
    Home: () => choose(0),
    End: () => choose(rows.length - 1),
    h: () => row && fold(row, true),
    l: () => row && fold(row, false),
    ArrowLeft: () => row && fold(row, true),
    ArrowRight: () => row && fold(row, false),
    "[": () => seek(-1, (r) => !r.span),
    "]": () => seek(1, (r) => !r.span),
    e: () => seek(1, (r) => !!r.span && (r.span.state === "bad" || r.span.state === "refused")),
    N: () => found && seek(-1, (r) => found.has(r.key)),
    n: () => found && seek(1, (r) => found.has(r.key)),
    f: () => { leave(); setFollow(!tailing); },
    z: () => setMode(mode === "run" ? "turn" : "run"),
    "/": () => field.current?.focus(),
    Enter: () => {
      if (!row) return;
      if (row.leg) return fold(row, !row.folded);
      setDetail(true);
      requestAnimationFrame(() => document.getElementById("detail")?.focus());
    },
    ...(row ? { Escape: leave } : {}),
  }, 2);

  const range: [number, number] = [rows[Math.floor(top / ROW)]?.turn.iteration ?? 0, rows[Math.min(rows.length - 1, Math.floor((top + height) / ROW))]?.turn.iteration ?? 0];
  return (
    <div class={`trace ${row && !row.leg ? "picked" : ""} ${detail && row && !row.leg ? "detailed" : ""}`}>
      <div class="trace-bar">
        <Ratchet log={log} version={version} range={range} go={(iteration) => {
          setFollow(false);
          show(rows.findIndex((r) => r.log === log && r.turn.iteration >= iteration), "mid");
        }} />
        <div class="controls">
          <input ref={field} type="search" placeholder="Find in the log" aria-label="Find in the log" value={find} onInput={(e) => setFind(e.currentTarget.value)} onKeyDown={(e) => {
            if (e.key !== "Enter") return;
            e.currentTarget.blur();
            seek(1, (r) => !!found?.has(r.key));
          }} />
          {found && <span class="count" role="status">{found.size ? plural(found.size, "row") : "nothing"}</span>}
          <button type="button" class="quiet" aria-pressed={mode === "turn"} title="z" onClick={() => setMode(mode === "run" ? "turn" : "run")}>{mode === "run" ? "Axis: whole run" : "Axis: each iteration"}</button>
          <button type="button" class="quiet" aria-pressed={quiet} onClick={() => setQuiet(!quiet)}>Notes</button>
          {!ended && log.entries.length > 0 && <button type="button" class="quiet" aria-pressed={tailing} title="f" onClick={() => { leave(); setFollow(!tailing); }}>Follow</button>}
        </div>
      </div>
      <div class="split">
        <div class="rows-side">
          <Scale axis={whole} />
          <div
            ref={box}
            class="rows"
            role="listbox"
            tabIndex={0}
            aria-label="Timeline"
            aria-activedescendant={row ? domId(row) : undefined}
            onScroll={(e) => {
              const el = e.currentTarget;
              setTop(el.scrollTop);
              if (jump.current) jump.current = false;
              else if (!ended && live.loaded) setFollow(el.scrollTop + el.clientHeight > el.scrollHeight - ROW * 2);
            }}
          >
            <div class="canvas" role="presentation" style={{ height: `${rows.length * ROW}px` }}>
              {visible.map((r, i) => (
                <Line
                  key={r.key}
                  row={r}
                  index={first + i}
                  total={rows.length}
                  axis={axisOf(r)}
                  mode={mode}
                  longest={longest}
                  now={until}
                  at={r === row}
                  hit={found?.has(r.key)}
                  onPick={() => { setKey(r.key); choose(first + i); setDetail(true); }}
                  onFold={() => fold(r, !r.folded)}
                />
              ))}
            </div>
          </div>
          <Stream log={log} status={status} />
        </div>
        {row && !row.leg && <Detail key={row.key} row={row} live={live} run={run} close={leave} open={open} setDoing={setDoing} />}
      </div>
    </div>
  );
}

// rootTurn is the run's own turn that contains a child's row.
function rootTurn(rows: Row[], r: Row): number {
  for (let i = rows.indexOf(r); i >= 0; i--) if (!rows[i].key.includes("/")) return rows[i].turn.iteration;
  return 0;
}

function domId(r: Row): string {
  return `row-${r.key.replace(/[^\w-]/g, "_")}`;
}

function useNow(every: number): number {
  const [at, set] = useState(now);
  useEffect(() => {
    if (!every) return;
    const timer = setInterval(() => set(now()), every);
    return () => clearInterval(timer);
  }, [every]);
  return at;
}

function turnTime(t: Turn, now: number): number {
  return t.spans.reduce((sum, s) => sum + (s.kind === "act" ? 0 : busy(s, now)), 0) + actTime(t.spans, now);
}

// actTime is how long any call of a turn ran: parallel ones count once.
function actTime(spans: Span[], now: number): number {
  const segs = spans.filter((s) => s.kind === "act").flatMap((s) => s.segs.filter((g) => g.kind !== "wait")).sort((a, b) => a.t0 - b.t0);
  let sum = 0;
  let end = -Infinity;
  for (const g of segs) {
    const to = g.t1 ?? now;
    sum += Math.max(0, to - Math.max(end, g.t0));
    end = Math.max(end, to);
  }
  return sum;
}

function finds(rows: Row[], find: string): Set<string> {
  const words = find.toLowerCase().split(/\s+/).filter(Boolean);
  const out = new Set<string>();
  for (const r of rows) {
    if (!r.span) continue;
    const text = `${r.span.name} ${r.span.call ?? ""} ${r.span.who} ${r.span.entries.map((e) => e.type + JSON.stringify(e.data)).join(" ")}`.toLowerCase();
    if (words.every((w) => text.includes(w))) out.add(r.key);
  }
  return out;
}

const purposes: Record<string, string> = { turn: "think", landing: "landing", summary: "summary" };

function Line({ row, index, total, axis, mode, longest, now, at, hit, onPick, onFold }: { row: Row; index: number; total: number; axis: Axis; mode: Mode; longest: number; now: number; at: boolean; hit?: boolean; onPick: () => void; onFold: () => void }) {
  const { span, turn } = row;
  const style = { transform: `translateY(${index * ROW}px)` };
  const common = {
    id: domId(row),
    role: "option" as const,
    "aria-selected": at,
    "aria-posinset": index + 1,
    "aria-setsize": total,
    style,
    onClick: onPick,
    onDblClick: onFold,
  };
  const fold = row.opens ? <i class="twist" aria-hidden="true" onClick={(e) => { e.stopPropagation(); onFold(); }}>{row.folded ? "▸" : "▾"}</i> : <i class="twist" />;
  const indent = <i class="indent" style={{ width: `${row.depth * 14}px` }} />;
  if (row.leg) {
    const { agent, by, reason, status, iterations, cost_usd } = row.leg;
    return (
      <div {...common} class={`tr turn ${at ? "at" : ""}`}>
        <span class="name">{fold}<b><Text of={agent} /></b><span class="said"><Text of={by ? `${by}: ${reason}` : ""} /></span></span>
        <span class="track"><Status of={status} /></span>
        <span class="num">{plural(iterations, "turn")}</span>
        <span class="num" />
        <span class="num dim cost">{cost_usd ? money(cost_usd) : ""}</span>
      </div>
    );
  }
  if (!span) {
    const took = turnTime(turn, now);
    const tokens = turn.input + turn.output;
    return (
      <div {...common} class={`tr turn ${row.depth ? "child" : ""} ${at ? "at" : ""} ${turn.bad ? "has-bad" : ""}`}>
        <span class="name">{indent}{fold}<b>{turn.iteration ? `${turn.iteration}` : "start"}</b><span class="said"><Text of={row.folded ? turn.said : ""} /></span></span>
        <span class="track">{mode === "turn" ? <span class="bar sum" style={{ left: "0", width: `${(100 * took) / longest}%` }} /> : <span class="bar sum" style={place(axis, turn.t0, Math.max(turn.t1, turnEnd(turn, now)))} />}</span>
        <span class="num">{took ? duration(took) : ""}</span>
        <span class="num dim">{tokens ? short(tokens) : ""}</span>
        <span class="num dim cost">{turn.cost ? money(turn.cost) : ""}</span>
      </div>
    );
  }
  const took = busy(span, now);
  const waits = span.segs.filter((g) => g.kind === "wait").reduce((sum, g) => sum + (g.t1 ?? now) - g.t0, 0);
  return (
    <div {...common} class={`tr k-${span.kind} ${row.depth > 1 ? "child" : ""} ${at ? "at" : ""} ${hit ? "hit" : ""} s-${span.state}`}>
      <span class="name">
        {indent}{fold}<i class="dot" aria-hidden="true" />
        <span class="label-of"><Text of={purposes[span.name] ?? span.name} /></span>
        {mark(span) && <span class="mark">{mark(span)}</span>}
        {span.who && <span class="mark who" title={span.who}><Text of={span.who} /></span>}
        <span class="said">{span.progress ? <Far of={span.progress} /> : <Text of={span.saying ? `${span.saying.by}: ${span.saying.text.trimEnd().split("\n").pop()!.slice(-300)}` : span.text} />}</span>
      </span>
      <span class="track">
        {axis.breaks.length > 0 && mode === "run" && axis.breaks.map((b) => <i key={b.x0} class="gap" style={{ left: `${b.x0 * 100}%`, width: `${(b.x1 - b.x0) * 100}%` }} />)}
        {span.segs.length ? span.segs.map((g, i) => <Bar key={i} seg={g} axis={axis} now={now} />) : <i class="tick" style={{ left: `${axis.at(span.t0) * 100}%` }} />}
      </span>
      <span class="num">{took >= 0.5 || (span.segs.length > 0 && !waits) ? duration(took) : waits ? <em>{duration(waits)}</em> : ""}</span>
      <span class="num dim">{span.tokens ? short(span.tokens) : ""}</span>
      <span class="num dim cost">{span.cost ? money(span.cost) : ""}</span>
    </div>
  );
}

function turnEnd(t: Turn, now: number): number {
  return t.spans.reduce((m, s) => s.segs.reduce((n, g) => Math.max(n, g.t1 ?? now), m), t.t1);
}

// mark names a row's state, which must not depend on its colour alone.
function mark(s: Span): string {
  const fails = s.segs.filter((g) => g.kind === "fail").length;
  switch (s.state) {
    case "bad": return s.kind === "act" || s.kind === "think" ? "failed" : "";
    case "refused": return s.who.startsWith("denied") ? "" : "refused";
    case "left": return "unanswered";
    case "held": return s.kind === "wait" ? "" : "waits";
    case "open": return s.segs.at(-1)?.kind === "retry" ? "retries" : s.segs.length ? "" : "";
  }
  if (s.entries.some((e) => e.type === "tool.reused")) return "reused";
  const tries = fails + s.segs.filter((g) => g.kind === "run").length;
  return tries > 1 ? `${tries} attempts` : "";
}

function place(a: Axis, t0: number, t1: number) {
  const x0 = a.at(t0);
  const x1 = Math.max(a.at(t1), x0);
  return { left: `${x0 * 100}%`, width: `${(x1 - x0) * 100}%` };
}

function Bar({ seg, axis, now }: { seg: Seg; axis: Axis; now: number }) {
  const end = seg.t1 ?? now;
  const p = place(axis, seg.t0, end);
  const whole = axis.at(end) - axis.at(seg.t0);
  const first = seg.first !== undefined && whole > 0 ? (axis.at(seg.first) - axis.at(seg.t0)) / whole : 0;
  return (
    <span class={`bar ${seg.kind} ${seg.t1 === null ? "open" : ""}`} style={p} title={`${seg.label ? `${seg.label}, ` : ""}${duration(end - seg.t0)}`}>
      {first > 0 && first < 1 && <i class="first" style={{ width: `${first * 100}%` }} />}
    </span>
  );
}

function Scale({ axis }: { axis: Axis | null }) {
  return (
    <div class="tr scale" aria-hidden="true">
      <span class="name">Iteration and step</span>
      <span class="track">
        {axis ? <>
          {axis.ticks.map((t) => <i key={t.ms} style={{ left: `${t.x * 100}%` }}>{duration(t.ms)}</i>)}
          {axis.breaks.filter((b) => b.x1 - b.x0 > 0.03).map((b, i, all) => (i === 0 || b.x0 - all[i - 1].x0 > 0.13) && <em key={b.x0} style={{ left: `${Math.min(0.94, (b.x0 + b.x1) / 2) * 100}%` }}>{duration(b.ms)}</em>)}
        </> : <span class="each">each iteration on its own scale</span>}
      </span>
      <span class="num">Took</span>
      <span class="num">Tokens</span>
      <span class="num cost">Cost</span>
    </div>
  );
}

/** Ratchet is the whole run at a glance: a tooth for each turn, as high as its tokens. */
function Ratchet({ log, version, range, go }: { log: Log; version: number; range: [number, number]; go: (iteration: number) => void }) {
  const teeth = useMemo(() => overview(log, 160).filter((t) => t.to > 0), [version]);
  // With enough space, also draw the iterations that are left.
  const limit = log.limits.iterations ?? 0;
  const room = limit <= 160 && teeth.length <= limit ? limit : teeth.length;
  const n = room || 1;
  const W = 1000;
  const w = Math.min(W / n, 60);
  const H = 40;
  const pos = (iteration: number) => teeth.findIndex((t) => t.to >= iteration) * w;
  const x0 = Math.max(0, pos(range[0]));
  const x1 = Math.max(x0 + w, pos(range[1]) + w);
  // Failures and waits are in a strip below the teeth.
  const foot = 5;
  const path = teeth.map((t, i) => {
    const h = 8 + t.height * (H - 12 - foot);
    return `M${i * w} ${H - foot}V${H - foot - h}L${i * w + w} ${H - foot - 2}V${H - foot}z`;
  }).join("");
  const strip = (ok: (t: (typeof teeth)[0]) => boolean) => teeth.map((t, i) => (ok(t) ? `M${i * w} ${H - foot + 1}h${w}v${foot - 1}h${-w}z` : "")).join("");
  const moved = (e: PointerEvent) => {
    if (e.type === "pointermove" && !e.buttons) return;
    const r = (e.currentTarget as Element).getBoundingClientRect();
    const t = teeth[Math.max(0, Math.min(teeth.length - 1, Math.floor((((e.clientX - r.left) / r.width) * W) / w)))];
    if (t) go(t.from);
  };
  return (
    <svg class="ratchet" viewBox={`0 0 ${W} ${H}`} preserveAspectRatio="none" role="img" aria-label={`${plural(log.iterations, "iteration")}, each a tooth as high as its tokens`} onPointerDown={moved} onPointerMove={moved}>
      <rect class="window" x={x0} y="0" width={Math.min(x1, w * teeth.length) - x0} height={H} />
      {room > teeth.length && <path class="room" d={Array.from({ length: room - teeth.length }, (_, i) => { const x = (teeth.length + i) * w; return `M${x} ${H - foot}v-14L${x + w} ${H - foot - 2}`; }).join("")} />}
      <path class="t-ok" d={path} />
      <path class="t-bad" d={strip((t) => t.bad)} />
      <path class="t-wait" d={strip((t) => t.waited && !t.bad)} />
      <path class="ground" d={`M0 ${H - foot}H${W}`} />
    </svg>
  );
}

/** Stream is the reply that is being made, piece by piece. */
function Stream({ log, status }: { log: Log; status: string }) {
  const l = log.live;
  if (!l || log.ended || status === "interrupted") return null;
  return (
    <div class={`stream ${l.withdrawn ? "withdrawn" : ""}`}>
      <span class="hint">{l.withdrawn ? `withdrawn: ${l.withdrawn}` : "being said"}</span>
      <div class="prose">
        {l.thinking && <span class="thinking"><Text of={l.thinking.slice(-1500)} /> </span>}
        <Text of={l.text.slice(-3000)} />
        {l.tools.map((t, i) => <span class="tag" key={i}><Text of={t} />…</span>)}
        {!l.withdrawn && <i class="caret" aria-hidden="true" />}
      </div>
    </div>
  );
}
