import { useEffect, useState } from "preact/hooks";
import type { Doing } from "./actions";
import { api, words } from "./api";
import { busy, usageLine, type Span } from "./fold";
import { clock, duration, money, now, number, percent, plural } from "./format";
import { JsonView } from "./json";
import { link } from "./route";
import { Said, Sources, structured } from "./said";
import type { Row } from "./rows";
import { Copy, Notice, Prose, Status, Text } from "./text";
import type { Entry, RunFile } from "./types";
import type { Live } from "./use-run";

/** Detail is everything about what is selected, in the order in which it happened. */
export function Detail({ row, live, run, close, open, setDoing }: { row: Row; live: Live; run: string; close: () => void; open: (tab: string, seq?: number) => void; setDoing: (d: Doing) => void }) {
  const [raw, setRaw] = useState(false);
  const { span, turn } = row;
  const own = row.log === live.log;
  const name = span ? (span.kind === "act" ? span.name : { turn: "Think", landing: "Landing" }[span.name] ?? span.name) : turn.iteration ? `Iteration ${turn.iteration}` : "Start";
  const entries = span ? span.entries : turn.spans.flatMap((s) => s.entries).sort((a, b) => a.seq - b.seq);
  return (
    <aside id="detail" class="detail" tabIndex={-1} aria-label={`Details: ${name}`} onKeyDown={(e) => e.key === "Escape" && (e.stopPropagation(), close())}>
      <header>
        <h2><Text of={name} /></h2>
        {span?.call && <span class="mono id">{span.call}</span>}
        <span class="grow" />
        {own && span?.model && <button type="button" class="quiet small" onClick={() => open("requests", span.model!.seq)}>Request</button>}
        {own && <button type="button" class="quiet small" onClick={() => open("stop", entries[entries.length - 1].seq)}>Stop condition here</button>}
        {own && <button type="button" class="quiet small" onClick={() => setDoing({ what: "fork", at: entries[entries.length - 1].seq })}>Fork here</button>}
        <button type="button" class="quiet" aria-label="Close details" onClick={close}>✕</button>
      </header>
      <div class="scroll" tabIndex={0} role="group" aria-label="Details">
        <p class="facts">
          <span>{clock(span?.t0 ?? turn.t0)}</span>
          {span ? <>{span.segs.length > 0 && <span>{duration(busy(span, now()))}</span>}<span>{usageLine(span.tokens, span.cost)}</span></> : <><span>{usageLine(turn.input + turn.output, turn.cost)}</span>{turn.input > 0 && <span>{percent(turn.cached / turn.input)} from cache</span>}</>}
          <span>{entries.length > 1 ? `entries ${entries[0].seq}–${entries[entries.length - 1].seq}` : `entry ${entries[0].seq}`}</span>
        </p>
        {span ? <Of span={span} run={run} /> : <TurnOf row={row} />}
        <section>
          <h3><button type="button" class="link" aria-expanded={raw} onClick={() => setRaw(!raw)}>{raw ? "Hide" : "Show"} the log's own {entries.length === 1 ? "entry" : "entries"}</button></h3>
          {raw && entries.slice(0, 60).map((e) => <JsonView key={e.seq} value={e} label={`${e.seq} ${e.type}`} open={2} />)}
        </section>
      </div>
    </aside>
  );
}

function TurnOf({ row }: { row: Row }) {
  return (
    <section>
      <h3>What happened</h3>
      <ul class="steps">
        {row.turn.spans.filter((s) => !s.quiet).map((s) => <li key={s.id} class={`k-${s.kind}`}><i class="dot" aria-hidden="true" /><b><Text of={s.name} /></b> <Text of={s.text} />{s.who && <em> <Text of={s.who} /></em>}{s.state === "bad" ? <em> failed</em> : null}</li>)}
      </ul>
    </section>
  );
}

function Of({ span, run }: { span: Span; run: string }) {
  return <>{span.child && <p>Runs as <a href={link(span.child)} class="mono">{span.child}</a></p>}{span.entries.map((e) => <One key={e.seq} e={e} span={span} run={run} />)}</>;
}

/** Files are the files of a call or, without one, of the input, to save. */
function Files({ run, call }: { run: string; call?: string }) {
  const [files, setFiles] = useState<RunFile[]>([]);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    const stop = new AbortController();
    api.files(run, stop.signal).then((all) => setFiles(all.files.filter((f) => f.call === call)), (e) => stop.signal.aborted || setProblem(words(e)));
    return () => stop.abort();
  }, [run, call]);
  if (problem) return <Notice bad>{problem}</Notice>;
  return (
    <ul class="files">
      {files.map((f, i) => <li key={i}>{f.digest ? <a href={api.file(run, f.digest)} download><Text of={f.name} /></a> : <Text of={f.name} />} <span class="hint"><Text of={f.type} />, {plural(f.bytes, "byte")}{f.digest ? "" : ", not kept"}</span></li>)}
    </ul>
  );
}

function One({ e, span, run }: { e: Entry; span: Span; run: string }) {
  const d = e.data ?? {};
  const part = (title: string, ...body: any[]) => <section key={e.seq}><h3><span>{title}</span><span class="hint">{e.seq} · {clock(Date.parse(e.time))}</span></h3>{body}</section>;
  switch (e.type) {
    case "run.started":
      return part("Asked", <Said of={d.input ?? ""} label="Input" />, d.files?.length ? <Files run={e.run} /> : null);
    case "model.called":
      return part(d.attempt > 1 ? `Attempt ${d.attempt}` : "Model called",
        <p class="facts"><span>{number(d.reserved_tokens)} tokens reserved</span>{d.reserved_usd ? <span>{money(d.reserved_usd)} reserved</span> : null}<span>at most {number(d.max_tokens)} out</span>{d.model && <span class="mono"><Text of={d.model} /></span>}{d.fallback ? <span>fallback {d.fallback}</span> : null}</p>);
    case "model.replied": {
      const hosted = d.hosted?.find((h: any) => span.kind === "act" && h.call === span.call);
      if (hosted) return part("Run by the model's provider", hosted.error ? <Prose of={hosted.error} mono class="error" /> : null, <JsonView value={hosted.args} label="Arguments" open={2} />, hosted.error ? null : <JsonView value={hosted.result} label="Result" open={2} />);
      if (span.kind === "act") return part("Called by the model", d.text ? <Prose of={d.text} max={400} /> : null, <JsonView value={d.calls?.find((c: any) => c.call === span.call)?.args} label="Arguments" open={2} />);
      const u = d.usage ?? {};
      return part("Replied",
        d.thinking ? <><h4>Thinking</h4><Prose of={d.thinking} class="thinking" /></> : null,
        !d.text ? null : structured(d.text) !== undefined ? <Said of={d.text} label="Reply" /> : <><div class="bar"><span>Text</span><Copy text={d.text} /></div><Prose of={d.text} class="said" /></>,
        <Sources of={(d.parts ?? []).flatMap((p: any) => p.source ?? [])} />,
        d.malformed ? <p class="problem">Malformed: <Text of={d.malformed} /></p> : null,
        ...(d.calls ?? []).map((c: any) => <JsonView key={c.call} value={c.args} label={`${c.call} ${c.tool}`} open={2} />),
        <p class="facts"><span>{number(u.input_tokens ?? 0)} in</span>{u.cache_read_tokens ? <span>{number(u.cache_read_tokens)} of it cached</span> : null}<span>{number(u.output_tokens ?? 0)} out</span>{u.reasoning_tokens ? <span>{number(u.reasoning_tokens)} reasoning</span> : null}<span>{money(d.cost_usd)}</span><span>{d.stop_reason}</span>{d.estimated && <span>estimated</span>}</p>);
    }
    case "model.failed":
      return part(`Failed: ${d.class}`, <Prose of={d.message ?? ""} class="error" />, d.retry_at ? <p class="hint">retried at {clock(Date.parse(d.retry_at))}</p> : null);
    case "tool.started":
      return part(d.early ? "Run early, while the reply was streamed" : d.attempt > 1 ? `Run, attempt ${d.attempt}` : "Run", <JsonView value={d.args} label="Arguments" />, <p class="facts"><span>{d.effect}</span><span class="mono id" title="idempotency key">{d.key}</span></p>);
    case "tool.finished":
      return part(`Finished: ${d.status}`,
        d.error ? <Prose of={d.error} mono class="error" /> : null,
        d.result !== null && d.result !== undefined && !(d.error && d.result === "") ? (typeof d.result === "string" ? <><div class="bar"><span>Result</span><Copy text={d.result} /></div><Prose of={d.result} mono class="out" /></> : <JsonView value={d.result} label="Result" />) : null,
        d.truncated ? <p class="cut">Truncated: the model saw the beginning and the end{d.blob ? <>; the full text is stored as <span class="mono id">{d.blob}</span></> : null}.</p> : null,
        d.abandoned ? <p class="problem">Abandoned: its function did not return.</p> : null,
        d.files?.length ? <Files run={e.run} call={d.call} /> : null);
    case "cancel.requested": return part(`Cancelled${d.by ? ` by ${d.by}` : ""}`, d.reason ? <Prose of={d.reason} /> : null);
    case "tool.reused": return part("Reused", <p>Reuses the result of <span class="mono">{d.of}</span>; nothing was run.</p>);
    case "tool.refused": return part(d.early ? "Discarded" : "Refused", <Prose of={d.why ?? ""} class="error" />);
    case "tool.doubted": return part("In doubt", <Prose of={d.why ?? ""} class="error" />);
    case "tool.settled": return part(`Settled${d.by ? ` by ${d.by}` : ""}: ${d.happened ? "it happened" : "it did not happen"}`, d.error ? <Prose of={d.error} mono class="error" /> : null, d.result !== undefined ? <JsonView value={d.result} label="Result" /> : null);
    case "approval.requested": return part("Approval requested", <Prose of={d.reason ?? ""} />, <JsonView value={d.args} label="Arguments" />, d.witnesses ? <JsonView value={d.witnesses} label="Preconditions" open={1} /> : null);
    case "approval.decided": return part(`${d.decision === "approve" ? "Approved" : "Denied"}${d.by ? ` by ${d.by}` : ""}${d.permission ? `, permission ${d.permission}` : ""}`, d.args !== undefined ? <JsonView value={d.args} label="Edited arguments" /> : null, d.reason ? <Prose of={d.reason} /> : null);
    case "approval.invalidated": return part("Void: something changed", <p><Text of={(d.changed ?? []).join(", ")} /></p>);
    case "approval.expired": return part("Expired");
    case "input.requested": return part("Asked a person", <Prose of={d.question ?? ""} />);
    case "input.given": return part(`${d.call ? "Answered" : d.after ? "Said, for when it would be done" : "Said"}${d.by ? ` by ${d.by}` : ""}`, <Prose of={d.text ?? ""} />);
    case "client_tool.requested": return part("Sent to the client", <JsonView value={d.args} label="Arguments" />);
    case "client_tool.returned": return part(`The client returned${d.by ? `, by ${d.by}` : ""}`, <JsonView value={d.result} label="Result" />);
    case "child.started": return part("Child run started", <p><a href={link(d.child)} class="mono">{d.child}</a> <Text of={d.agent ?? ""} /></p>, <JsonView value={d.limits} label="Its limits" open={1} />);
    case "child.stopped": return part("Child run stopped", <p><Status of={d.status} /> {number((d.usage?.input_tokens ?? 0) + (d.usage?.output_tokens ?? 0))} tokens, {money(d.unpriced ? null : d.cost_usd)}</p>);
    case "run.stopped": return part("Ended", <p><Status of={d.status} /></p>, d.leaf ? <p>Decided by <code><Text of={d.leaf} /></code>{d.condition !== d.leaf && <> in <code><Text of={d.condition} /></code></>}</p> : null, <Prose of={d.detail ?? ""} />, d.answer ? <Said of={d.answer} label="Answer" /> : null);
    case "run.paused": return part("Suspended", <p><Status of={d.status} /></p>, d.reason ? <Prose of={d.reason} /> : null, d.wake_at ? <p class="hint">resumes at {clock(Date.parse(d.wake_at))}</p> : null);
    case "run.forked": return part(`Forked${d.by ? ` by ${d.by}` : ""}`, <p>Shares entries 1–{d.seq} with <a class="mono" href={link(d.from, "", d.seq)}>{d.from}</a></p>, d.input ? <Prose of={d.input} /> : null);
    case "observed": return part(d.failed ? "Observation failed" : "Observed", <Prose of={d.text ?? ""} mono />, d.data !== undefined ? <JsonView value={d.data} label="Data" /> : null);
    case "reflected": return part(`Judgement${d.by ? ` by ${d.by}` : ""}`, <p>confidence {d.confidence}</p>, <Prose of={d.text ?? ""} />, d.hint ? <><h4>Message to the model</h4><Prose of={d.hint} /></> : null);
    case "grounded": return part(!d.ok ? "Not grounded" : d.claims?.length ? "Unsupported values" : "Grounded", d.claims?.length ? <ul>{d.claims.map((c: string) => <li key={c}><Text of={c} /></li>)}</ul> : null, d.hint ? <><h4>Message to the model</h4><Prose of={d.hint} /></> : null);
    case "progress.judged": return part(d.judgement, <Prose of={d.detail ?? ""} />, d.hint ? <><h4>Message to the model</h4><Prose of={d.hint} /></> : null);
    case "context.compacted": return part("Compacted", <p>{span.text}</p>, d.summary ? <Prose of={d.summary} /> : null);
    case "plan.rejected": return part(`Reply rejected, ${plural(d.rejection ?? 1, "rejection")} in a row`, <ul>{(d.reasons ?? []).map((r: string) => <li key={r}><Text of={r} /></li>)}</ul>, <h4>Message to the model</h4>, <Prose of={d.feedback ?? ""} />);
    case "causes.found": return part("Causes found", <p><a href={link(run, "causes")}>Show the graph</a></p>);
  }
  return part(e.type, <JsonView value={d} open={2} />);
}
