import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { Actions, calm, type Doing } from "./actions";
import { Causes } from "./causes";
import { Charts } from "./charts";
import { Conversation } from "./conversation";
import { Crumbs } from "./crumbs";
import { Decisions } from "./decisions";
import { Entries } from "./entries";
import { ExplainView } from "./explain";
import { duration, money, number, plural, short, stamp } from "./format";
import { useKeys } from "./keys";
import { Legs, useLegs } from "./legs";
import { PendingList } from "./pending";
import { Requests } from "./requests";
import { go, home, link, type Place } from "./route";
import { StopView } from "./stop";
import { Said, Sources, structured } from "./said";
import { Copy, Labels, Notice, Status, Text } from "./text";
import { Timeline } from "./timeline";
import { AgentView } from "./agent";
import type { Leg } from "./types";
import { useRun, type Live } from "./use-run";

const tabs = [
  ["conversation", "Conversation"],
  ["timeline", "Timeline"],
  ["requests", "Requests"],
  ["charts", "Charts"],
  ["stop", "Stop condition"],
  ["causes", "Causes"],
  ["explain", "Explain"],
  ["agent", "Agent"],
  ["log", "Log"],
  ["decisions", "Decisions"],
] as const;

export function RunPage({ place: at }: { place: Place }) {
  const place = tabs.some(([tab]) => tab === at.tab) ? at : { ...at, tab: "conversation" };
  const live = useRun(place.run);
  const legs = useLegs(live, place.run);
  const { log, result, status, error } = live;
  const [doing, setDoing] = useState<Doing | null>(null);
  const [picked, setPicked] = useState(place.seq);
  useEffect(() => setPicked(place.seq), [place.seq]);
  const pick = (seq: number) => {
    setPicked(seq);
    history.replaceState(null, "", link(place.run, place.tab, seq));
  };
  const open = (tab: string, seq = picked) => go(link(place.run, tab, seq));

  const pending = result && (status.startsWith("waiting") || status === "expired") ? result.pending : [];
  const unanswered = pending.filter((p) => !p.answered_at);
  const first = status === "expired" ? undefined : unanswered[0];
  useKeys({
    ...Object.fromEntries(tabs.map(([tab], i) => [String((i + 1) % 10), () => open(tab)])),
    a: () => first && setDoing({ what: first.kind === "approval" ? "approve" : first.kind === "input" ? "answer" : first.kind === "doubt" ? "settle" : "submit", pending: first }),
    d: () => first?.kind === "approval" && setDoing({ what: "deny", pending: first }),
    R: () => calm(live, unanswered) && setDoing({ what: "resume" }),
    F: () => setDoing({ what: "fork" }),
    C: () => !live.ended && setDoing({ what: "cancel" }),
    p: () => setDoing({ what: "replay" }),
    Escape: () => go(home()),
  }, 1);

  // On a phone the tabs are wider than the page.
  useEffect(() => {
    const tab = document.querySelector<HTMLElement>(".tabs [aria-current]");
    const bar = tab?.parentElement;
    if (tab && bar) bar.scrollLeft = tab.offsetLeft - bar.offsetLeft - (bar.clientWidth - tab.offsetWidth) / 2;
  }, [place.tab, live.loaded]);
  useEffect(() => {
    document.title = log.start ? `${log.start.agent} · ${place.run.slice(-6)} · Pawl` : "Pawl";
    return () => void (document.title = "Pawl");
  }, [log.start, place.run]);

  if (error && !log.entries.length) {
    return <><Crumbs><a href={home()}>Runs</a></Crumbs><div class="alone"><Notice bad>{error}</Notice><p><a href={link()}>All runs</a></p></div></>;
  }
  const parent = log.start?.parent || (place.run.includes(".") ? place.run.slice(0, place.run.lastIndexOf(".")) : "");
  return (
    <div class={`run tab-${place.tab}`} data-loaded={live.loaded || undefined} data-entries={log.entries.length}>
      <Crumbs>
        <a href={home()}>Runs</a>
        {parent && <><i aria-hidden="true">/</i><a href={link(parent)} class="mono">{parent.length > 12 ? `…${parent.slice(-8)}` : parent}</a></>}
        <i aria-hidden="true">/</i><span class="mono" title={place.run}>{place.run.length > 16 ? `…${place.run.slice(-10)}` : place.run}</span>
        <Connected live={live} />
      </Crumbs>
      <header class="summary">
        <div class="who">
          <div class="title">
            <h1>{log.start ? <Text of={log.start.agent} /> : " "}</h1>
            {status && <Status of={status} big />}
            <Labels of={log.start?.labels ?? result?.labels} />
          </div>
          <Legs legs={legs} run={place.run} />
          <Outcome live={live} />
          <div class="facts">
            <span class="mono id">{place.run}</span><Copy text={place.run} label="Copy id" />
            {log.t0 > 0 && <span>started {stamp(log.t0)}</span>}
            {log.start && <span class="mono"><Text of={log.start.model} /></span>}
            {result?.confidence != null && <span>confidence {result.confidence}</span>}
            <Children live={live} />
          </div>
        </div>
        <Meters live={live} />
      </header>
      {error && <Notice bad>{error}</Notice>}
      {pending.length > 0 && <PendingList pending={pending} expired={status === "expired"} setDoing={setDoing} />}
      <div class="tabbar">
        <nav class="tabs" aria-label="Views of the run">
          {tabs.map(([tab, name], i) => (
            <a key={tab} href={link(place.run, tab, picked)} aria-current={tab === place.tab ? "page" : undefined} title={`${(i + 1) % 10}`}>{name}</a>
          ))}
        </nav>
        <Actions live={live} run={place.run} doing={doing} setDoing={setDoing} picked={picked} pending={unanswered} />
      </div>
      <View live={live} legs={legs} place={place} picked={picked} pick={pick} open={open} setDoing={setDoing} />
    </div>
  );
}

function View(p: { live: Live; legs: Leg[]; place: Place; picked: number; pick: (seq: number) => void; open: (tab: string, seq?: number) => void; setDoing: (d: Doing) => void }) {
  const { live, place } = p;
  switch (place.tab) {
    case "conversation": return <Conversation live={live} run={place.run} />;
    case "requests": return <Requests live={live} run={place.run} picked={p.picked} pick={p.pick} />;
    case "charts": return <Charts log={live.log} version={live.version} open={p.open} />;
    case "stop": return <StopView live={live} run={place.run} picked={p.picked} pick={p.pick} />;
    case "causes": return <Causes log={live.log} open={p.open} />;
    case "explain": return <ExplainView live={live} run={place.run} open={p.open} />;
    case "agent": return <AgentView log={live.log} version={live.version} />;
    case "decisions": return <Decisions live={live} run={place.run} />;
    case "log": return <Entries log={live.log} version={live.version} picked={p.picked} pick={p.pick} />;
  }
  return <Timeline live={live} legs={p.legs} run={place.run} picked={p.picked} pick={p.pick} open={p.open} setDoing={p.setDoing} />;
}

function Connected({ live }: { live: Live }) {
  const c = live.loaded ? live.connection : { state: "connecting" as const };
  const said = { connecting: live.loaded ? "connecting" : "reading", live: "live", ended: "ended", lost: `connection lost, trying again` }[c.state];
  return <span class={`conn ${c.state}`} role="status"><i aria-hidden="true" />{said}</span>;
}

/** Outcome says what the run has come to, in a sentence, and what it answered. */
function Outcome({ live }: { live: Live }) {
  const { result, status, ended } = live;
  const { log } = live;
  const [open, setOpen] = useState(false);
  if (!result) return <p class="outcome">&nbsp;</p>;
  const { leaf, condition, detail } = result.reason;
  const answer = ended ? result.answer : "";
  return (
    <>
      <p class="outcome">
        {ended ? (
          <>
            {leaf ? <>Decided by <code><Text of={leaf} /></code></> : "Ended"}
            {condition && condition !== leaf && <> in <code><Text of={condition} /></code></>}
            {detail && <>: <Text of={detail} /></>}
            {status !== "success" && result.recommended_action && <span class="next">Next: <Text of={result.recommended_action} /></span>}
          </>
        ) : status === "running" || status === "queued" ? (
          <>{log.iterations ? `In iteration ${log.iterations}` : "Not begun"}</>
        ) : (
          <><Text of={detail || status} />{result.recommended_action && !status.startsWith("waiting") && <span class="next">Next: <Text of={result.recommended_action} /></span>}</>
        )}
      </p>
      {answer && (
        <div class={`answer ${open ? "open" : ""}`}>
          <Said of={answer} max={open ? 20_000 : 600} label="Answer" />
          {structured(answer) === undefined && (answer.length > 280 || answer.split("\n").length > 3) && <button type="button" class="link" aria-expanded={open} onClick={() => setOpen(!open)}>{open ? "less" : "more"}</button>}
          <Sources of={result.citations} />
        </div>
      )}
    </>
  );
}

function Children({ live }: { live: Live }) {
  const all = live.log.children;
  if (!all.length) return null;
  return (
    <span class="children">{plural(all.length, "child run")}: {all.slice(0, 4).map((c) => <a key={c.run} href={link(c.run)}><Text of={c.agent || c.call} /></a>)}{all.length > 4 && "…"}</span>
  );
}

function Meters({ live }: { live: Live }) {
  const { log, status } = live;
  const [, tick] = useState(0);
  const running = status === "running" && log.turning && live.loaded;
  useEffect(() => {
    if (!running) return;
    const timer = setInterval(() => tick((n) => n + 1), 500);
    return () => clearInterval(timer);
  }, [running]);
  const skew = useMemo(() => ({ of: log.t1, at: Date.now() }), [log.t1]);
  const elapsed = log.elapsed + (running ? Math.max(0, Date.now() - skew.at) : 0);
  const l = log.limits;
  const cost = log.priced || live.result?.cost_usd != null;
  return (
    <dl class="meters">
      <Meter name="Iterations" used={log.iterations} limit={l.iterations} say={number} />
      <Meter name="Tokens" used={log.input + log.output} limit={l.tokens} say={short} />
      <Meter name="Time" used={elapsed} limit={l.time} say={duration} />
      <Meter name={live.result?.price === "list" ? "Cost, by list price" : "Cost"} used={cost ? log.cost : NaN} limit={l.cost} say={(n) => (isNaN(n) ? "no price" : money(n))} />
    </dl>
  );
}

function Meter({ name, used, limit, say }: { name: string; used: number; limit?: number; say: (n: number) => string }): ComponentChildren {
  const part = limit ? Math.min(1, (used || 0) / limit) : 0;
  return (
    <div class={`meter ${part >= 1 ? "full" : part > 0.8 ? "near" : ""}`}>
      <dt>{name}</dt>
      <dd>
        <b>{say(used)}</b>{limit ? <span> of {say(limit)}</span> : isNaN(used) ? null : <span> no ceiling</span>}
        <i aria-hidden="true"><u style={{ width: `${part * 100}%` }} /></i>
      </dd>
    </div>
  );
}
