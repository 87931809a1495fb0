import { useEffect, useState } from "preact/hooks";
import type { Asked } from "./actions";
import { api } from "./api";
import { Dialog, JsonField, jsonProblem } from "./dialog";
import { parseJSON } from "./exact";
import { plural } from "./format";
import { go, link } from "./route";
import { Text } from "./text";
import type { Agent, Entry } from "./types";

/** editable says what a person can put in place of an entry. */
export function editable(e?: Entry): "result" | "reply" | "" {
  if (e?.type === "tool.finished") return "result";
  return e?.type === "model.replied" && (e.data.purpose ?? "turn") === "turn" ? "reply" : "";
}

/** lastEditable is the latest entry of a step that can be edited: what it ended with. */
export function lastEditable(kind: string, entries: Entry[]): Entry | undefined {
  return entries.findLast((e) => editable(e) === (kind === "act" ? "result" : "reply"));
}

/** ForkRun forks a run at an entry: as it is, with an edit in place of the entry, or with a changed agent. */
export function ForkRun(p: Asked & { at: number; edit?: boolean }) {
  const { log } = p.live;
  const wanted = p.at || log.last;
  const [offered] = useState(() => (p.edit ? wanted : log.forks(wanted)[0] ?? wanted));
  const [at, setAt] = useState(String(offered));
  const [input, setInput] = useState("");
  const [edits, setEdits] = useState(!!p.edit);
  const [edit, setEdit] = useState<Edit>({ text: "", calls: "[]", failed: false });
  const [prompt, setPrompt] = useState(String(log.start?.prompt ?? ""));
  const [model, setModel] = useState("");
  const [agents, setAgents] = useState<Agent[]>([]);
  useEffect(() => void api.agents().then((r) => setAgents(r.agents), () => null), []); // only to offer their models
  const n = Number(at);
  const e = log.entries[n - 1];
  const kind = editable(e);
  const editing = edits && !!kind;
  useEffect(() => setEdit(was(e)), [n, kind]);
  const near = e ? log.forks(n) : [];
  const can = near[0] === n;
  const bad = editing && (kind === "reply" ? !!callsProblem(edit.calls) || (!edit.text.trim() && edit.calls.trim() === "[]") : edit.failed ? !edit.text.trim() : !!jsonProblem(edit.text));
  const changed = prompt !== (log.start?.prompt ?? "");
  const act = async () => {
    const r = await api.act(p.run, "fork", {
      at: n, input: (!(editing && kind === "reply") && input) || undefined, model: model.trim() || undefined, prompt: (changed && prompt) || undefined,
      edit: !editing ? undefined : kind === "reply" ? { text: edit.text, calls: parseJSON(edit.calls) } : edit.failed ? { error: edit.text } : { result: parseJSON(edit.text) },
    });
    go(link(r.run));
  };
  return (
    <Dialog signed title="Fork" does={editing ? "Fork with this edit" : "Fork"} act={act} close={p.close} disabled={bad || !(can || editing) || (changed && !prompt.trim())} wide>
      <p>A new run that shares this one's log {editing ? "before the edited entry, with yours in its place," : "up to an entry at which nothing is in progress,"} and continues from there. This run stays as it is.</p>
      <div class="field">
        <label for="at">At entry</label>
        <input id="at" type="number" min={1} max={log.last} value={at} aria-describedby="at-hint" onInput={(ev) => setAt(ev.currentTarget.value)} />
        <p class="hint" id="at-hint">
          {!e ? `from 1 to ${log.last}` : can || editing ? <>{e.type} in iteration {e.iteration}{n === offered && n !== wanted && `, the nearest to entry ${wanted}, at which something is in progress`}</> : <>Something is in progress at entry {n}. Fork at {near.map((seq, i) => <span key={seq}>{i > 0 && " or "}<button type="button" class="link" onClick={() => setAt(String(seq))}>{seq}</button></span>)}{kind && ", or edit the entry"}.</>}
        </p>
      </div>
      {kind && <fieldset><label><input type="checkbox" checked={edits} onChange={(ev) => setEdits(ev.currentTarget.checked)} /> Edit the {kind === "reply" ? "model's reply" : <>result of <span class="mono"><Text of={e.data.tool} /></span></>} in this entry</label></fieldset>}
      {editing && <EditFields kind={kind} edit={edit} set={setEdit} />}
      {!(editing && kind === "reply") && <div class="field"><label for="fork-input">Additional message</label><textarea id="fork-input" rows={3} data-first value={input} onInput={(ev) => setInput(ev.currentTarget.value)} /></div>}
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

interface Edit { text: string; calls: string; failed: boolean }

function was(e?: Entry): Edit {
  const d = e?.data ?? {};
  if (editable(e) === "reply") return { text: d.text ?? "", calls: JSON.stringify((d.calls ?? []).map((c: any) => ({ tool: c.tool, args: c.args })), null, 2), failed: false };
  return { text: d.error ? String(d.error) : JSON.stringify(d.result ?? null, null, 2), calls: "[]", failed: !!d.error };
}

function callsProblem(s: string): string {
  const bad = jsonProblem(s);
  if (bad) return bad;
  const calls = parseJSON(s);
  return Array.isArray(calls) && calls.every((c) => typeof c?.tool === "string" && c.args !== undefined) ? "" : "A list of calls: [{\"tool\": …, \"args\": …}]";
}

function EditFields({ kind, edit, set }: { kind: string; edit: Edit; set: (e: Edit) => void }) {
  if (kind === "reply") {
    return (
      <>
        <div class="field"><label for="edit-text">The model says</label><textarea id="edit-text" rows={4} value={edit.text} onInput={(ev) => set({ ...edit, text: ev.currentTarget.value })} /></div>
        <JsonField id="edit-calls" label="It calls" value={edit.calls} set={(calls) => set({ ...edit, calls })} rows={6} />
        <p class="hint">{callsProblem(edit.calls) || "Calls run as the model's would: with the same approvals and limits."}</p>
      </>
    );
  }
  return (
    <>
      <fieldset>
        <legend>How the call ended</legend>
        <label><input type="radio" name="ended" checked={!edit.failed} onChange={() => set({ ...edit, failed: false })} /> with this result</label>
        <label><input type="radio" name="ended" checked={edit.failed} onChange={() => set({ ...edit, failed: true })} /> with this error</label>
      </fieldset>
      {edit.failed
        ? <div class="field"><label for="edit-error">Error, for the model</label><textarea id="edit-error" rows={3} value={edit.text} onInput={(ev) => set({ ...edit, text: ev.currentTarget.value })} /></div>
        : <JsonField id="edit-result" label="Result, for the model" value={edit.text} set={(text) => set({ ...edit, text })} rows={Math.min(14, edit.text.split("\n").length + 1)} />}
      <p class="hint">The tool does not run. The log names you.</p>
    </>
  );
}
