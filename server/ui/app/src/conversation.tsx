import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { CancelRun } from "./actions";
import type { Span } from "./fold";
import { argsLine, clock, excerpt, oneLine } from "./format";
import { JsonView } from "./json";
import { Markdown } from "./markdown";
import { link } from "./route";
import { Said, structured } from "./said";
import { Far, Prose, Text } from "./text";
import type { Entry } from "./types";
import type { Live } from "./use-run";

/** Conversation is the run as a dialogue: what was asked, said, called and answered. */
export function Conversation({ live, run }: { live: Live; run: string }) {
  const { log } = live;
  const ends = new Map<string, Entry>(); // the last that is known of a call
  for (const e of log.entries) if (e.data?.call && /^(tool\.(finished|reused|refused|doubted|settled)|input\.given|client_tool\.returned|child\.stopped)$/.test(e.type)) ends.set(e.data.call, e);
  const before = log.start?.continues?.run;
  const now = log.live;
  return (
    <div class="conversation" role="log" aria-label="Conversation">
      {before && <p class="hint">The conversation begins in <a href={link(before)} class="mono">{before}</a>.</p>}
      {log.entries.map((e) => <Item key={e.seq} e={e} ends={ends} run={run} live={live} />)}
      {now && !now.withdrawn && (now.text || now.thinking) && (
        <Message who={log.start?.agent ?? "agent"} kind="agent">
          {now.thinking && <Folded name="Thinking">{() => <Prose of={now.thinking} />}</Folded>}
          {now.text && <Markdown of={now.text} />}
        </Message>
      )}
      {log.ended && live.result && live.result.status !== "success" && <p class="hint">The run ended as {live.result.status}: <Text of={live.result.reason.detail || live.result.reason.leaf} /></p>}
    </div>
  );
}

function Item({ e, ends, run, live }: { e: Entry; ends: Map<string, Entry>; run: string; live: Live }) {
  const d = e.data;
  switch (e.type) {
    case "run.started": return d.input ? <Message who="input" kind="user" at={e}><Prose of={d.input} /></Message> : null;
    case "input.given": return <Message who={d.by || "person"} kind="user" at={e}><Prose of={d.text} /></Message>;
    case "input.requested": return <Message who="question" kind="agent" at={e}><Prose of={d.question ?? d.reason ?? ""} /></Message>;
    case "approval.decided": return <p class="hint"><Text of={decided(d, live.log.call(d.call))} /></p>;
    case "plan.rejected": return <p class="hint">The reply was rejected: <Text of={excerpt(d.why ?? d.error ?? "")} /></p>;
    case "model.replied": return d.purpose === "turn" || d.purpose === "final" ? <Reply e={e} ends={ends} run={run} live={live} /> : null;
  }
  return null;
}

function Reply({ e, ends, run, live }: { e: Entry; ends: Map<string, Entry>; run: string; live: Live }) {
  const d = e.data;
  const calls: { call: string; tool: string; args: any }[] = d.calls ?? [];
  if (!d.text && !d.thinking && !calls.length) return null;
  return (
    <Message who={live.log.start?.agent ?? "agent"} kind="agent" at={e}>
      {d.thinking && <Folded name="Thinking">{() => <Prose of={d.thinking} />}</Folded>}
      {d.text && (structured(d.text) === undefined ? <Markdown of={d.text} /> : <Said of={d.text} label="Reply" />)}
      {calls.map((c) => <Call key={c.call} c={c} end={ends.get(c.call)} run={run} live={live} />)}
    </Message>
  );
}

function Call({ c, end, run, live }: { c: { call: string; tool: string; args: any }; end?: Entry; run: string; live: Live }) {
  const [cancelling, setCancelling] = useState(false);
  const d = end?.data;
  const span = live.log.call(c.call);
  const state = end ? (d.status ?? end.type.split(".")[1]) : span?.state === "held" ? "waits" : "open";
  const far = span?.progress;
  const result = d?.result ?? d?.text ?? d?.error ?? d?.why;
  return (
    <Folded name={<><b class="mono"><Text of={c.tool} /></b> <span class="mono"><Text of={argsLine(c.args)} /></span> <span class={`outcome-of ${span?.state}`}>{span?.state === "refused" && span.who ? <Text of={span.who} /> : state}</span>{far && <> <Far of={far} /></>}</>}>
      {() => (
        <>
          <JsonView value={c.args} open={2} label="Arguments" />
          {result !== undefined && (typeof result === "string" ? <Prose of={result || oneLine(d?.error)} mono max={2000} /> : <JsonView value={result} open={2} label="Result" />)}
          {!end && !live.ended && <button type="button" onClick={() => setCancelling(true)}>Cancel this call…</button>}
          {cancelling && <CancelRun live={live} run={run} call={c.call} close={() => setCancelling(false)} />}
          {d?.child && <a href={link(d.child)}>child run</a>}
          <a href={link(run, "timeline", end?.seq)} class="hint">in the timeline</a>
        </>
      )}
    </Folded>
  );
}

/** decided says who decided about a call, and which arguments it got if they were edited. */
function decided(d: any, call?: Span): string {
  const edited = d.args == null ? "" : ` with ${argsLine(d.args)}`;
  return `${d.by || "a rule"} ${d.decision === "approve" ? "approved" : "denied"} ${call?.name ?? d.call}${edited}${d.reason ? `: ${d.reason}` : ""}`;
}

/** Folded shows its content when it is opened. */
function Folded({ name, children }: { name: ComponentChildren; children: () => ComponentChildren }) {
  return <details class="folded"><summary>{name}</summary><div>{children()}</div></details>;
}

function Message({ who, kind, at, children }: { who: string; kind: "user" | "agent"; at?: Entry; children: ComponentChildren }) {
  return (
    <article class={`message by-${kind}`}>
      <header><Text of={who} />{at && <time dateTime={at.time}>{clock(Date.parse(at.time))}</time>}</header>
      {children}
    </article>
  );
}
