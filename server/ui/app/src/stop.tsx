import { useEffect, useState } from "preact/hooks";
import { api, words } from "./api";
import { number } from "./format";
import { Notice, Status, Text } from "./text";
import type { StopNode } from "./types";
import type { Live } from "./use-run";

/** StopView is the stop condition as a tree, and which of its leaves hold at an entry. */
export function StopView({ live, run, picked, pick }: { live: Live; run: string; picked: number; pick: (seq: number) => void }) {
  const { log } = live;
  const [tree, setTree] = useState<{ at: number; stop: StopNode } | null>(null);
  const [error, setError] = useState("");
  const at = picked || log.last;
  useEffect(() => {
    if (!at) return;
    const stop = new AbortController();
    const timer = setTimeout(() => api.stop(run, at, stop.signal).then((t) => { setTree(t); setError(""); }, (e) => !stop.signal.aborted && setError(words(e))), 60);
    return () => { clearTimeout(timer); stop.abort(); };
  }, [run, at]);
  const e = log.entries[at - 1];
  const entries = log.last;
  return (
    <div class="stop">
      <div class="scrub">
        <label for="at-entry">After entry</label>
        <input id="at-entry" type="range" min={1} max={entries || 1} value={at} onInput={(ev) => pick(Number(ev.currentTarget.value))} />
        <output>{number(at)} of {number(entries)}{e && <span class="hint"> {e.type}, iteration {e.iteration}</span>}</output>
        {picked > 0 && <button type="button" class="quiet" onClick={() => pick(0)}>Now</button>}
      </div>
      {error && <Notice bad>{error}</Notice>}
      {tree && <Tree root={tree.stop} />}
    </div>
  );
}

function Tree({ root }: { root: StopNode }) {
  return <section><h2>What can end the run</h2><ul class="tree"><Branch n={root} /></ul></section>;
}

const names = { any: "any of", all: "all of", not: "not", override: "", leaf: "" };

function Branch({ n }: { n: StopNode }) {
  const kids = n.children ?? [];
  const part = n.used != null && n.limit ? Math.max(0, Math.min(1, n.used / n.limit)) : null;
  return (
    <li class={n.holds ? "holds" : ""}>
      <span class="node">
        <b class="holds-mark" aria-hidden="true">{n.holds ? "●" : "○"}</b>
        <span class="sr">{n.holds ? "holds: " : "does not hold: "}</span>
        {n.kind === "leaf" || n.kind === "override" ? <code><Text of={n.source} /></code> : <span class="op">{names[n.kind]}</span>}
        {part !== null && <i class="gauge" aria-hidden="true"><u style={{ width: `${part * 100}%` }} /></i>}
        {n.holds && n.outcome && <Status of={n.outcome} />}
        {n.detail && <span class="hint"><Text of={n.detail} /></span>}
      </span>
      {kids.length > 0 && <ul>{kids.map((c, i) => <Branch key={i} n={c} />)}</ul>}
    </li>
  );
}
