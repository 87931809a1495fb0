import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Log } from "./fold";
import { clock, oneLine } from "./format";
import { JsonView } from "./json";
import { useKeys } from "./keys";
import { Text } from "./text";

const ROW = 24;

/** Entries is the log as it is, line for line. */
export function Entries({ log, version, picked, pick }: { log: Log; version: number; picked: number; pick: (seq: number) => void }) {
  const [find, setFind] = useState("");
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  const box = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const list = useMemo(() => {
    const words = find.toLowerCase().split(/\s+/).filter(Boolean);
    return words.length ? log.entries.filter((e) => { const t = `${e.type} ${JSON.stringify(e.data)}`.toLowerCase(); return words.every((w) => t.includes(w)); }) : log.entries.slice();
  }, [log, version, find]);
  const at = list.findIndex((e) => e.seq === picked);
  useLayoutEffect(() => {
    const watch = new ResizeObserver(() => setHeight(box.current!.clientHeight));
    watch.observe(box.current!);
    return () => watch.disconnect();
  }, []);
  useLayoutEffect(() => {
    const el = box.current!;
    const y = at * ROW;
    if (at >= 0 && (y < el.scrollTop || y + ROW > el.scrollTop + el.clientHeight)) el.scrollTop = y - el.clientHeight / 2;
  }, [at]);
  const choose = (i: number) => list.length && pick(list[Math.max(0, Math.min(list.length - 1, i))].seq);
  useKeys({
    j: () => choose(at + 1),
    k: () => choose(at < 0 ? list.length - 1 : at - 1),
    ArrowDown: () => choose(at + 1),
    ArrowUp: () => choose(at < 0 ? list.length - 1 : at - 1),
    Home: () => choose(0),
    End: () => choose(list.length - 1),
    "/": () => field.current?.focus(),
  }, 2);
  const first = Math.max(0, Math.floor(top / ROW) - 8);
  const last = Math.min(list.length, Math.ceil((top + height) / ROW) + 8);
  const entry = log.entries[picked - 1];
  return (
    <div class="log-view">
      <div class="controls"><input ref={field} type="search" placeholder="Find in the log" aria-label="Find in the log" value={find} onInput={(e) => setFind(e.currentTarget.value)} /><span class="count" role="status">{list.length} of {log.entries.length} entries</span></div>
      <div class="split">
        <div ref={box} class="rows" role="listbox" tabIndex={0} aria-label="Entries" aria-activedescendant={at >= 0 ? `entry-${picked}` : undefined} onScroll={(e) => setTop(e.currentTarget.scrollTop)}>
          <div class="canvas" role="presentation" style={{ height: `${list.length * ROW}px` }}>
            {list.slice(first, last).map((e, i) => (
              <div key={e.seq} id={`entry-${e.seq}`} role="option" aria-selected={e.seq === picked} aria-posinset={first + i + 1} aria-setsize={list.length} class={`entry ${e.seq === picked ? "at" : ""}`} style={{ transform: `translateY(${(first + i) * ROW}px)` }} onClick={() => pick(e.seq)}>
                <span class="num">{e.seq}</span><span class="num dim">{e.iteration}</span><span class="dim">{clock(Date.parse(e.time))}</span><b>{e.type}</b><span class="said mono"><Text of={oneLine(e.data, 300)} /></span>
              </div>
            ))}
          </div>
        </div>
        {entry && <aside class="detail" aria-label={`Entry ${entry.seq}`}><header><h2>{entry.type}</h2><span class="mono id">{entry.seq}</span><span class="grow" /><button type="button" class="quiet" aria-label="Close details" onClick={() => pick(0)}>✕</button></header><div class="scroll" tabIndex={0} role="group" aria-label="Entry"><JsonView value={entry} open={3} /></div></aside>}
      </div>
    </div>
  );
}
