import { useEffect, useState } from "preact/hooks";
import { Actions, calm, type Doing } from "./actions";
import { api } from "./api";
import { Causes } from "./causes";
import { Charts } from "./charts";
import { Conversation } from "./conversation";
import { Decisions } from "./decisions";
import { Entries } from "./entries";
import { ExplainView } from "./explain";
import { duration, money, now, number, plural, short, stamp } from "./format";
import { useKeys } from "./keys";
import { Legs, useLegs } from "./legs";
import { Folded, Markdown } from "./markdown";
import { Crumbs } from "./nav";
import { PendingList } from "./pending";
import { Requests } from "./requests";
import { go, home, link, type Place } from "./route";
import { StopView } from "./stop";
import { Said, Sources, structured } from "./said";
import { Id, Labels, Notice, Status, Text } from "./text";
import { Timeline } from "./timeline";
import { AgentView } from "./agent";
import type { Leg, Source } from "./types";
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
  const above = useAbove(place.run, log.start?.parent ?? "");
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
    return <div class="alone"><Notice bad>{error}</Notice>{/found/.test(error) && <p><a href={`#/?${new URLSearchParams({ q: place.run })}`}>Search for runs whose id begins with <Text of={place.run} /></a></p>}</div>;
  }
  return (
    <div class={`run tab-${place.tab}`} data-loaded={live.loaded || undefined} data-entries={log.entries.length}>
      <header class="summary">
        <div class="way"><Crumbs above={above}><Text of={log.start?.agent ?? "…"} /></Crumbs><Connected live={live} /></div>
        <div class="who">
          <div class="title">
            <h1>{log.start ? <Text of={log.start.agent} /> : "\u00a0"}</h1>
            {status && <Status of={status} big />}
            <Labels of={log.start?.labels ?? result?.labels} />
          </div>
          <Legs legs={legs} run={place.run} />
          <Outcome live={live} asks={pending.length > 0} />
          <div class="facts">
            <Id of={place.run} />
            {log.t0 > 0 && <span>started {stamp(log.t0)}</span>}
            {log.start && <span class="mono"><Text of={log.start.model} /></span>}
            {result?.confidence != null && <span>confidence {result.confidence}</span>}
            <Children live={live} />
          </div>
        </div>
        <Meters live={live} />
        {live.ended && result?.answer && <Answer of={result.answer} citations={result.citations} />}
      </header>
      {error && <Notice bad>{error}</Notice>}
      {pending.length > 0 && <PendingList pending={pending} live={live} expired={status === "expired"} setDoing={setDoing} />}
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

/** useAbove is the runs that a child run is below, with the names of their agents. */
function useAbove(run: string, parent: string): { run: string; name: string }[] {
  const ids = run.split(".").slice(0, -1).map((_, i, all) => all.slice(0, i + 1).join("."));
  if (parent && !ids.length) ids.push(parent);
  const [names, setNames] = useState<Record<string, string>>({});
  useEffect(() => {
    const stop = new AbortController();
    for (const id of ids) api.run(id, stop.signal).then((r) => setNames((all) => ({ ...all, [id]: r.agent })), () => {}); // the id stands for it
    return () => stop.abort();
  }, [ids.join()]);
  return ids.map((id) => ({ run: id, name: names[id] ?? id }));
}

/** Outcome says what the run has come to, in a sentence. What it asks for is told below. */
function Outcome({ live, asks }: { live: Live; asks: boolean }) {
  const { result, status, ended, log } = live;
  if (!result) return <p class="outcome">&nbsp;</p>;
  if (asks) return null;
  const { leaf, condition, detail } = result.reason;
  const next = result.recommended_action;
  return (
    <p class="outcome">
      {ended ? (
        <>
          {leaf ? <>Decided by <code><Text of={leaf} /></code></> : "Ended"}
          {condition && condition !== leaf && <> in <code><Text of={condition} /></code></>}
          {detail && <>: <Text of={detail} /></>}
        </>
      ) : status === "running" || status === "queued" ? (log.iterations ? `In iteration ${log.iterations}` : "Not begun") : <Text of={detail || status} />}
      {next && status !== "success" && !/^(running|queued|waiting)/.test(status) && <span class="next">Next: {next.startsWith("pawl ") ? <Id of={next} /> : <Text of={next} />}</span>}
    </p>
  );
}

/** Answer is what the run answered: its beginning, or all of it. */
function Answer({ of, citations }: { of: string; citations: Source[] }) {
  return (
    <section class="answer" aria-label="Answer">
      <Folded key={of} what="answer">{structured(of) === undefined ? <Markdown of={of} /> : <Said of={of} label="Answer" />}</Folded>
      <Sources of={citations} />
    </section>
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
  const elapsed = log.elapsed + (running ? Math.max(0, now() - log.t1) : 0);
  const l = log.limits;
  const cost = log.priced || live.result?.cost_usd != null;
  const known = live.loaded;
  return (
    <dl class="meters">
      <Meter name="Iterations" known={known} used={log.iterations} limit={l.iterations} say={number} />
      <Meter name="Tokens" known={known} used={log.input + log.output} limit={l.tokens} say={short} />
      <Meter name="Time" known={known} used={elapsed} limit={l.time} say={duration} />
      <Meter name={live.result?.price === "list" ? "Cost, by list price" : "Cost"} known={known} used={cost ? log.cost : NaN} limit={l.cost} say={(n) => (isNaN(n) ? "no price" : money(n))} />
    </dl>
  );
}

// A Meter has nothing to say before the log was read.
function Meter({ name, known, used, limit, say }: { name: string; known: boolean; used: number; limit?: number; say: (n: number) => string }) {
  const part = known && limit ? Math.min(1, (used || 0) / limit) : 0;
  return (
    <div class={`meter ${part >= 1 ? "full" : part > 0.8 ? "near" : ""}`}>
      <dt>{name}</dt>
      <dd>
        {known ? <><b>{say(used)}</b>{limit ? <span> of {say(limit)}</span> : isNaN(used) ? null : <span> no ceiling</span>}</> : <b>…</b>}
        <i aria-hidden="true"><u style={{ width: `${part * 100}%` }} /></i>
      </dd>
    </div>
  );
}
