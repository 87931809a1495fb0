import { useEffect, useRef, useState } from "preact/hooks";
import { readLog } from "./api";
import { Log, type Span, type Turn } from "./fold";
import type { Leg } from "./types";

/** A Row is one line of the timeline: a turn, or something in it. */
export interface Row {
  key: string;
  turn: Turn;
  span: Span | null; // null: the turn's own line
  depth: number;
  log: Log; // whose row it is: the run's or a child's
  folded?: boolean;
  opens?: boolean; // it has rows of its own
  leg?: Leg; // the row is the heading of one
}

export interface Shown {
  folded: Set<number>; // turns
  opened: Map<string, Log>; // children by their run
  quiet: boolean; // with bookkeeping
  legs?: Leg[]; // of the conversation; none: the run is all of it
  run?: string; // which of them it is
}

export function rowsOf(log: Log, shown: Shown, depth = 0, out: Row[] = [], prefix = ""): Row[] {
  for (const turn of log.turns) {
    const folded = depth === 0 && shown.folded.has(turn.iteration);
    if (depth === 0 || turn.iteration > 0) out.push({ key: `${prefix}t${turn.iteration}`, turn, span: null, depth, log, folded, opens: true });
    if (folded) continue;
    for (const span of turn.spans) {
      if (span.quiet && !shown.quiet) continue;
      const child = span.child ? shown.opened.get(span.child) : undefined;
      out.push({ key: `${prefix}${span.id}`, turn, span, depth: depth + 1, log, opens: !!span.child, folded: !!span.child && !child });
      if (child) rowsOf(child, shown, depth + 1, out, `${span.child}/`);
    }
  }
  return out;
}

const none: Turn = { iteration: -1, spans: [], t0: 0, t1: 0, said: "", input: 0, cached: 0, output: 0, cost: 0, bad: 0, waited: false, open: 0 };

/** conversationOf is the rows of a run between those of the legs before and after it. */
export function conversationOf(log: Log, shown: Shown): Row[] {
  if (!shown.legs?.length) return rowsOf(log, shown);
  const out: Row[] = [];
  for (const leg of shown.legs) {
    const own = leg.run === shown.run;
    const of = own ? log : shown.opened.get(leg.run);
    out.push({ key: `leg/${leg.run}`, turn: none, span: null, depth: 0, log: of ?? log, leg, opens: !own, folded: !of });
    if (own) rowsOf(log, shown, 0, out);
    else if (of) rowsOf(of, shown, 1, out, `${leg.run}/`);
  }
  return out;
}

/** holds says whether a row is the one of an entry of the run's own log. */
export function holds(r: Row, seq: number): boolean {
  return !!r.span && !r.key.includes("/") && r.span.entries.some((e) => e.seq === seq);
}

/** useChildren reads the logs of child runs when they are opened. */
export function useChildren(): { opened: Map<string, Log>; toggle: (run: string) => void } {
  const logs = useRef(new Map<string, Log>());
  const [opened, setOpened] = useState(() => new Map<string, Log>());
  const stop = useRef(new AbortController());
  useEffect(() => () => stop.current.abort(), []);
  const toggle = async (run: string) => {
    if (opened.has(run)) {
      const m = new Map(opened);
      m.delete(run);
      setOpened(m);
      return;
    }
    const log = logs.current.get(run) ?? new Log();
    logs.current.set(run, log);
    try {
      await readLog(run, log.last ? String(log.last + 1) : "", (page) => page.forEach((e) => log.add(e)), stop.current.signal);
    } catch {
      // Details are on the child's own page; here they stay folded.
      if (!log.entries.length) return;
    }
    setOpened((m) => new Map(m).set(run, log));
  };
  return { opened, toggle };
}
