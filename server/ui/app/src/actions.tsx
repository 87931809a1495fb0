import { useEffect, useState } from "preact/hooks";
import { api, words } from "./api";
import { Basis, Changes } from "./basis";
import { Dialog, JsonField, jsonProblem } from "./dialog";
import { ForkRun } from "./fork";
import { parseJSON } from "./exact";
import { plural } from "./format";
import { JsonView } from "./json";
import { comparing } from "./route";
import { readLimits } from "./start";
import { Notice, Prose, Text } from "./text";
import type { Pending, Replayed } from "./types";
import type { Live } from "./use-run";

export type Doing =
  | { what: "approve" | "deny" | "answer" | "submit" | "settle"; pending: Pending }
  | { what: "cancel" | "resume" | "replay" | "say" }
  | { what: "fork"; at?: number };

/** calm says that a run can be resumed, and does not wait for an answer first. */
export function calm(live: Live, pending: Pending[]): boolean {
  return !!live.result?.resumable && !(pending.length > 0 && live.status !== "expired");
}

/** Actions are the buttons of a run, of which only those stand there that apply, and their dialogs. */
export function Actions({ live, run, doing, setDoing, picked, pending }: { live: Live; run: string; doing: Doing | null; setDoing: (d: Doing | null) => void; picked: number; pending: Pending[] }) {
  const { log } = live;
  const close = () => setDoing(null);
  return (
    <div class="actions">
      {calm(live, pending) && <button type="button" class={live.ended ? "" : "primary"} onClick={() => setDoing({ what: "resume" })}>Resume…</button>}
      {!live.ended && log.entries.length > 0 && <button type="button" onClick={() => setDoing({ what: "say" })}>Say…</button>}
      {!live.ended && log.entries.length > 0 && <button type="button" onClick={() => setDoing({ what: "cancel" })}>Cancel…</button>}
      {log.entries.length > 0 && <button type="button" onClick={() => setDoing({ what: "fork" })}>Fork…</button>}
      {log.forked && <a class="button" href={comparing(log.forked.from, run)}>Compare</a>}
      {log.entries.length > 0 && <button type="button" onClick={() => setDoing({ what: "replay" })}>Replay</button>}
      {doing && <Doings doing={doing} live={live} run={run} picked={picked} close={close} />}
    </div>
  );
}

function Doings({ doing, live, run, picked, close }: { doing: Doing; live: Live; run: string; picked: number; close: () => void }) {
  const p = { live, run, close };
  switch (doing.what) {
    case "approve": return <Approve {...p} pending={doing.pending} />;
    case "deny": return <Deny {...p} pending={doing.pending} />;
    case "answer": return <Answer {...p} pending={doing.pending} />;
    case "submit": return <Submit {...p} pending={doing.pending} />;
    case "settle": return <Settle {...p} pending={doing.pending} />;
    case "cancel": return <CancelRun {...p} />;
    case "say": return <Say {...p} />;
    case "resume": return <ResumeRun {...p} />;
    case "fork": return <ForkRun {...p} at={doing.at ?? picked} />;
    case "replay": return <Replay {...p} />;
  }
}

export interface Asked { live: Live; run: string; close: () => void }
type About = Asked & { pending: Pending };

function Call({ p }: { p: Pending }) {
  return <p class="call"><b class="mono"><Text of={p.tool || "question"} /></b> <span class="mono id">{p.call}</span></p>;
}

// A child's call is decided at the child; its parent then resumes.
function decide(p: About, what: "approve" | "deny" | "answer" | "submit" | "settle", body: object): Promise<void> {
  return api.call(p.pending.run || p.run, p.pending.call, what, body).then(() => p.live.again());
}

function Approve(p: About) {
  const asked = JSON.stringify(p.pending.args, null, 2);
  const [args, setArgs] = useState<string | null>(null); // as they are edited; null: they are not
  const [scope, setScope] = useState("call");
  const [times, setTimes] = useState("");
  const { agent = "", thread = null, labels = {} } = p.live.result ?? {};
  const scopes = [["call", "this call"], ["run", "equal calls in this run, too"], ...(thread ? [["thread", "equal calls of the agent in this thread, too"]] : []), ["agent", "equal calls in every run of the agent, too"]] as const;
  const now = args === null || jsonProblem(args) ? p.pending.args : parseJSON(args);
  const edited = JSON.stringify(now) !== JSON.stringify(p.pending.args);
  const act = () => decide(p, "approve", { scope, ...(scope !== "call" && times ? { times: Number(times) } : {}), ...(edited ? { args: now } : {}) });
  return (
    <Dialog signed wide title="Approve" does={edited ? "Approve with these arguments" : "Approve"} act={act} close={p.close} disabled={args !== null && !!jsonProblem(args)}>
      <Call p={p.pending} />
      {p.pending.reason && <Prose of={p.pending.reason} />}
      {args === null
        ? <><JsonView value={p.pending.args} label="Arguments" open={20} /><button type="button" class="link" onClick={() => setArgs(asked)}>Edit the arguments</button></>
        : <JsonField id="args" label="Arguments" value={args} set={setArgs} rows={Math.min(16, Math.max(5, asked.split("\n").length + 1))} />}
      {edited && <label class="sure"><input type="checkbox" required /> Run other arguments than the model asked for, and tell it: <Changes was={p.pending.args} is={now} /></label>}
      <Basis p={p.pending} live={p.live} />
      <fieldset>
        <legend>Holds for</legend>
        {scopes.map(([name, text]) => <label key={name}><input type="radio" name="scope" checked={scope === name} onChange={() => setScope(name)} /> {text}</label>)}
      </fieldset>
      {scope !== "call" && <>
        <div class="field"><label for="times">Later calls at most (empty: any number)</label><input id="times" type="number" min="1" value={times} onInput={(e) => setTimes(e.currentTarget.value)} /></div>
        <p class="hint">Always: <Text of={`${p.pending.tool} ${JSON.stringify(now)}${scope === "run" ? ", in this run" : `, ${scope === "thread" ? "in this thread" : "in each run"} of ${p.pending.run && p.pending.run !== p.run ? "the child's agent" : agent}${Object.entries(labels).map(([k, v]) => ` with ${k}=${v}`).join("")}`}${times ? `, ${plural(Number(times), "time")}` : ""}, for 30 days`} /></p>
      </>}
    </Dialog>
  );
}

function Deny(p: About) {
  const [reason, setReason] = useState("");
  return (
    <Dialog signed title="Deny" does="Deny" danger act={() => decide(p, "deny", { reason })} close={p.close}>
      <Call p={p.pending} />
      <JsonView value={p.pending.args} label="Arguments" />
      <div class="field"><label for="reason">Reason, for the model</label><textarea id="reason" rows={3} data-first value={reason} onInput={(e) => setReason(e.currentTarget.value)} /></div>
    </Dialog>
  );
}

function Answer(p: About) {
  const [text, setText] = useState("");
  return (
    <Dialog signed title="Answer" does="Answer" act={() => decide(p, "answer", { text })} close={p.close} disabled={!text.trim()}>
      <Prose of={p.pending.reason} class="question" />
      <div class="field"><label for="answer">Answer</label><textarea id="answer" rows={4} data-first value={text} onInput={(e) => setText(e.currentTarget.value)} /></div>
    </Dialog>
  );
}

function Submit(p: About) {
  const [text, setText] = useState('{\n  \n}');
  return (
    <Dialog signed title="Submit a result" does="Submit" act={() => decide(p, "submit", { result: parseJSON(text) })} close={p.close} disabled={!!jsonProblem(text)}>
      <Call p={p.pending} />
      <JsonView value={p.pending.args} label="Arguments" />
      <JsonField id="result" label="Result" value={text} set={setText} first />
    </Dialog>
  );
}

function Settle(p: About) {
  const [happened, setHappened] = useState<boolean | null>(null);
  const [text, setText] = useState("{}");
  const act = () => decide(p, "settle", happened ? { happened: parseJSON(text) } : { did_not_happen: true });
  return (
    <Dialog signed title="Resolve an unknown outcome" does={happened === null ? "Settle" : happened ? "It happened" : "It did not happen"} act={act} close={p.close} disabled={happened === null || (happened && !!jsonProblem(text))}>
      <Call p={p.pending} />
      <Prose of={p.pending.reason} />
      <JsonView value={p.pending.args} label="Arguments" />
      <fieldset>
        <legend>Look where its effect would show. Did it take place?</legend>
        <label><input type="radio" name="happened" data-first checked={happened === true} onChange={() => setHappened(true)} /> It happened, with this result</label>
        <label><input type="radio" name="happened" checked={happened === false} onChange={() => setHappened(false)} /> It did not happen: run it again</label>
      </fieldset>
      {happened && <JsonField id="happened" label="Result, for the model" value={text} set={setText} rows={5} />}
    </Dialog>
  );
}

function Say(p: Asked) {
  const [text, setText] = useState("");
  const [after, setAfter] = useState(false);
  return (
    <Dialog signed title="Say something to the run" does="Say it" act={() => api.act(p.run, "messages", { text, after }).then(() => p.live.again())} close={p.close} disabled={!text.trim()}>
      <div class="field"><label for="say">Message</label><textarea id="say" rows={3} data-first value={text} onInput={(e) => setText(e.currentTarget.value)} /></div>
      <fieldset>
        <legend>The model reads it</legend>
        <label><input type="radio" name="after" checked={!after} onChange={() => setAfter(false)} /> before its next call</label>
        <label><input type="radio" name="after" checked={after} onChange={() => setAfter(true)} /> when it would be done</label>
      </fieldset>
    </Dialog>
  );
}

/** CancelRun cancels a run, or one of its calls. */
export function CancelRun(p: Asked & { call?: string }) {
  const [reason, setReason] = useState("");
  const what = p.call ? `Cancel call ${p.call}` : "Cancel the run";
  const act = () => (p.call ? api.call(p.run, p.call, "cancel", { reason }) : api.act(p.run, "cancel", { reason })).then(() => p.live.again());
  return (
    <Dialog signed title={what} does={what} danger act={act} close={p.close}>
      <p>{p.call ? "The model reads the reason, and the run goes on. The outcome of a write in progress is unknown." : "A write in progress is finished first. A cancelled run can be resumed."}</p>
      <div class="field"><label for="why">Reason</label><textarea id="why" rows={2} data-first value={reason} onInput={(e) => setReason(e.currentTarget.value)} /></div>
    </Dialog>
  );
}

function ResumeRun(p: Asked) {
  const [limits, setLimits] = useState(() => suggestion(p.live));
  return (
    <Dialog title="Resume" does="Resume" act={() => api.act(p.run, "resume", { limits: readLimits(limits) }).then(() => p.live.again())} close={p.close}>
      {p.live.result?.recommended_action && <p>Advice: <Text of={p.live.result.recommended_action} />.</p>}
      <div class="field">
        <label for="limits">Limits to change</label>
        <input id="limits" class="mono" data-first placeholder="iterations=+5, cost=1.00" value={limits} onInput={(e) => setLimits(e.currentTarget.value)} />
        <p class="hint">Write a number, or <code>+5</code> for five more. If empty, the limits are unchanged.</p>
      </div>
    </Dialog>
  );
}

// suggestion is the limit that the run's advice raises, if any.
function suggestion(live: Live): string {
  return /--limit (\S+)/.exec(live.result?.recommended_action ?? "")?.[1] ?? "";
}

function Replay(p: Asked) {
  const [said, setSaid] = useState<Replayed | null>(null);
  const [error, setError] = useState("");
  useEffect(() => {
    api.replay(p.run).then(setSaid, (e) => setError(words(e)));
  }, []);
  return (
    <Dialog title="Replay" close={p.close}>
      <p>This build folds the log and recomputes every recorded step. It calls no model and no tool.</p>
      {error ? <Notice bad>{error}</Notice> : !said ? <p role="status">Deciding…</p> : <ReplayResult said={said} />}
    </Dialog>
  );
}

function ReplayResult({ said }: { said: Replayed }) {
  return (
    <>
      <p class={`verdict ${said.agrees ? "good" : "bad"}`} role="status">{said.agrees ? "Identical" : "Different"}</p>
      <p>{plural(said.steps, "step")} {said.agrees ? "replayed identically" : "identical before the first difference"}.</p>
      {said.problem && <Prose of={said.problem} class="error" />}
    </>
  );
}
