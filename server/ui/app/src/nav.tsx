import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { api } from "./api";
import { home, link, type Place } from "./route";

const pages: [string, string, (p: Place) => boolean][] = [
  ["Runs", "#/", (p) => p.page === "runs" && p.query.get("status") !== "waiting"],
  ["Waiting", "#/?status=waiting", (p) => p.page === "runs" && p.query.get("status") === "waiting"],
  ["Decisions", "#/decisions", (p) => p.page === "decisions"],
  ["Cost", "#/stats", (p) => p.page === "stats"],
  ["Budgets", "#/budgets", (p) => p.page === "budgets"],
  ["Agents", "#/agents", (p) => p.page === "agents"],
];

/** Nav leads to every page from every page, and says how many runs wait. */
export function Nav({ place }: { place: Place }) {
  const [waiting, setWaiting] = useState("");
  useEffect(() => {
    const stop = new AbortController();
    const read = () => void (document.hidden || api.runs({ status: "waiting", max: 99 }, stop.signal).then((p) => setWaiting(p.runs.length ? `${p.runs.length}${p.next ? "+" : ""}` : ""), () => {}));
    read();
    const again = setInterval(read, 5000);
    return () => { stop.abort(); clearInterval(again); };
  }, [place.page, place.run]);
  return (
    <nav class="pages" aria-label="Pages">
      {pages.map(([name, href, is]) => <a key={name} href={href} aria-current={is(place) ? "page" : undefined}>{name}{name === "Waiting" && waiting && <b>{waiting}</b>}</a>)}
    </nav>
  );
}

/** Crumbs are the way from the list to what is shown. */
export function Crumbs({ above = [], children }: { above?: { run: string; name: string }[]; children: ComponentChildren }) {
  return (
    <nav class="crumbs" aria-label="Where this is">
      <a href={home()}>Runs</a>
      {above.map((a) => <span key={a.run}><i aria-hidden="true">/</i><a href={link(a.run)}>{a.name}</a></span>)}
      <span><i aria-hidden="true">/</i>{children}</span>
    </nav>
  );
}
