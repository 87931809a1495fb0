import { useEffect, useState } from "preact/hooks";

// The route is kept in the fragment: the server serves one document, and routes never
// reach its log.

export interface Place {
  page: "runs" | "run" | "compare" | "stats" | "decisions" | "budgets" | "agents";
  run: string; // empty: the list
  other: string; // what the run is compared with
  tab: string;
  seq: number;
  query: URLSearchParams;
}

export function parse(hash: string): Place {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [head, run = "", tab = "", seq = ""] = path.split("/").map(decodeURIComponent);
  const compares = head === "compare" && !!run && !!tab;
  const page = head === "stats" || head === "decisions" || head === "budgets" || head === "agents" ? head : compares ? "compare" : head === "runs" && run ? "run" : "runs";
  return { page, run: page === "run" || page === "compare" ? run : "", other: compares ? tab : "", tab: tab || "conversation", seq: Number(seq) || 0, query: new URLSearchParams(query) };
}

let list = "#/"; // the list as it was filtered last

/** home leads back to the list, with its filters. */
export const home = (): string => list;

/** listed is the address of the list with the given filters. */
export function listed(query: URLSearchParams): string {
  const s = query.toString();
  return (list = s ? `#/?${s}` : "#/");
}

export const comparing = (a: string, b: string): string => `#/compare/${encodeURIComponent(a)}/${encodeURIComponent(b)}`;

export function link(run = "", tab = "", seq = 0): string {
  if (!run) return "#/";
  const parts = ["#/runs", encodeURIComponent(run)];
  if (tab || seq) parts.push(tab || "timeline");
  if (seq) parts.push(String(seq));
  return parts.join("/");
}

export function go(to: string, replace = false): void {
  if (to === location.hash) return;
  if (replace) {
    history.replaceState(history.state, "", to);
    dispatchEvent(new HashChangeEvent("hashchange"));
  } else location.hash = to;
}

export function usePlace(): Place {
  const [place, set] = useState(() => parse(location.hash));
  useEffect(() => {
    const on = () => set(parse(location.hash));
    addEventListener("hashchange", on);
    return () => removeEventListener("hashchange", on);
  }, []);
  return place;
}

export const statsLink = (q: { time?: string; label?: string } = {}): string => {
  const s = new URLSearchParams(Object.entries(q).filter(([, v]) => v) as [string, string][]).toString();
  return s ? `#/stats?${s}` : "#/stats";
};

export const decisionsLink = (q: { by?: string; what?: string; agent?: string; time?: string } = {}): string => {
  const s = new URLSearchParams(Object.entries(q).filter(([, v]) => v) as [string, string][]).toString();
  return s ? `#/decisions?${s}` : "#/decisions";
};
