import { useEffect, useState } from "preact/hooks";
import type { Asked } from "./actions";
import { api } from "./api";
import { Dialog } from "./dialog";
import { plural } from "./format";
import { go, link } from "./route";
import type { Agent } from "./types";

/** ForkRun forks a run at an entry, with a message or with a changed agent. */
export function ForkRun(p: Asked & { at: number }) {
  const { log } = p.live;
  const wanted = p.at || log.last;
  const [offered] = useState(() => log.forks(wanted)[0] ?? wanted);
  const [at, setAt] = useState(String(offered));
  const [input, setInput] = useState("");
  const [prompt, setPrompt] = useState(String(log.start?.prompt ?? ""));
  const [model, setModel] = useState("");
  const [agents, setAgents] = useState<Agent[]>([]);
  useEffect(() => void api.agents().then((r) => setAgents(r.agents), () => null), []); // only to offer their models
  const n = Number(at);
  const e = log.entries[n - 1];
  const near = e ? log.forks(n) : [];
  const can = near[0] === n;
  const changed = prompt !== (log.start?.prompt ?? "");
  const act = async () => {
    const r = await api.act(p.run, "fork", {
      at: n, input: input || undefined, model: model.trim() || undefined, prompt: (changed && prompt) || undefined,
    });
    go(link(r.run));
  };
  return (
    <Dialog signed title="Fork" does="Fork" act={act} close={p.close} disabled={!can || (changed && !prompt.trim())} wide>
      <p>A new run that shares this one's log up to an entry at which nothing is in progress, and continues from there. This run stays as it is.</p>
      <div class="field">
        <label for="at">At entry</label>
        <input id="at" type="number" min={1} max={log.last} value={at} aria-describedby="at-hint" onInput={(ev) => setAt(ev.currentTarget.value)} />
        <p class="hint" id="at-hint">
          {!e ? `from 1 to ${log.last}` : can ? <>{e.type} in iteration {e.iteration}{n === offered && n !== wanted && `, the nearest to entry ${wanted}, at which something is in progress`}</> : <>Something is in progress at entry {n}. Fork at {near.map((seq, i) => <span key={seq}>{i > 0 && " or "}<button type="button" class="link" onClick={() => setAt(String(seq))}>{seq}</button></span>)}.</>}
        </p>
      </div>
      <div class="field"><label for="fork-input">Additional message</label><textarea id="fork-input" rows={3} data-first value={input} onInput={(ev) => setInput(ev.currentTarget.value)} /></div>
      <details>
        <summary>Change the agent{(changed || model) && `: ${plural(+changed + +!!model, "change")}`}</summary>
        <div class="field"><label for="fork-prompt">Prompt</label><textarea id="fork-prompt" rows={6} value={prompt} onInput={(ev) => setPrompt(ev.currentTarget.value)} /></div>
        <div class="field">
          <label for="fork-model">Model</label>
          <input id="fork-model" class="mono" list="fork-models" placeholder={log.start?.model} value={model} onInput={(ev) => setModel(ev.currentTarget.value)} />
          <datalist id="fork-models">{[...new Set(agents.map((a) => a.model))].map((m) => <option key={m} value={m} />)}</datalist>
          <p class="hint">That of one of the server's agents, or PROVIDER/NAME. If empty, it stays.</p>
        </div>
      </details>
    </Dialog>
  );
}
