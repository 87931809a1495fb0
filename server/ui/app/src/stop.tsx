import { useEffect, useState } from "preact/hooks";
import { api, words } from "./api";
import { number } from "./format";
import { Notice, Status, Text } from "./text";
import type { Live } from "./use-run";

/** StopView is the stop condition as a tree, and which of its leaves hold at an entry. */
export function StopView({ live, run, picked, pick }: { live: Live; run: string; picked: number; pick: (seq: number) => void }) {
  const { log } = live;
  const [tree, setTree] = useState<any>(null);
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
      {tree && <Tree said={tree} />}
    </div>
  );
}

interface Node { source: string; holds: boolean; op: string; status?: string; detail?: string; of: Node[] }

function node(n: any): Node {
  return {
    source: n.source ?? n.condition ?? n.text ?? "",
    holds: !!n.holds,
    op: n.op ?? n.kind ?? "",
    status: n.status || undefined,
    detail: n.detail,
    of: (n.of ?? n.children ?? n.terms ?? []).map(node),
  };
}

function Tree({ said }: { said: any }) {
  const root = said.stop ?? said.tree ?? said.condition ?? said;
  const ceilings = (said.ceilings ?? []) as any[];
  return (
    <>
      <section><h2>Stop condition</h2>{root && (root.source || root.condition) ? <ul class="tree"><Branch n={node(root)} top /></ul> : <p class="empty">The agent has none of its own; it stops when the model answers without calling a tool.</p>}</section>
      {Array.isArray(ceilings) && ceilings.length > 0 && <section><h2>Ceilings, which are always there</h2><ul class="tree">{ceilings.map((c, i) => <Branch key={i} n={node(c)} top />)}</ul></section>}
    </>
  );
}

const names: Record<string, string> = { or: "any of", any: "any of", "||": "any of", and: "all of", all: "all of", "&&": "all of", not: "not", "!": "not" };

function Branch({ n, top }: { n: Node; top?: boolean }) {
  const leaf = n.of.length === 0;
  return (
    <li class={`${n.holds ? "holds" : ""} ${top ? "top" : ""}`}>
      <span class="node">
        <b class="holds-mark" aria-hidden="true">{n.holds ? "●" : "○"}</b>
        <span class="sr">{n.holds ? "holds: " : "does not hold: "}</span>
        {leaf ? <code><Text of={n.source} /></code> : <span class="op">{names[n.op] ?? n.op}</span>}
        {n.holds && n.status && <Status of={n.status} />}
        {n.detail && <span class="hint"><Text of={n.detail} /></span>}
      </span>
      {!leaf && <ul>{n.of.map((c, i) => <Branch key={i} n={c} />)}</ul>}
    </li>
  );
}
