import { argsLine, excerpt, oneLine } from "./format";
import { JsonView } from "./json";
import { Prose, Text } from "./text";
import type { Source } from "./types";

// Judges, agents with strategy json and steps with a schema answer in JSON. A row
// shows the text, and a page shows the tree.

/** structured is the object or list that a text consists of, if it is one. */
export function structured(text: string): any {
  const inner = /^\s*(?:```(?:json)?\s*)?([[{][\s\S]*[\]}])\s*(?:```\s*)?$/.exec(text)?.[1];
  if (!inner) return undefined;
  try {
    return JSON.parse(inner);
  } catch {
    return undefined;
  }
}

/** spoken is a reply in a line of words. */
export function spoken(text: string): string {
  const v = structured(text);
  if (v === undefined) return excerpt(text);
  if (Array.isArray(v)) return excerpt(v.map((one) => inWords(one)).join("; "));
  if (typeof v.action === "string" && typeof (v.thought ?? "") === "string") return excerpt(v.thought || `calls ${v.action}`);
  return inWords(v);
}

// The members in which judges give their reasons.
const reasons = ["assessment", "reason", "why", "detail", "explanation"];

function inWords(v: any): string {
  if (typeof v !== "object" || v === null) return oneLine(v);
  const reason = reasons.find((k) => typeof v[k] === "string" && v[k]);
  if (reason) {
    const rest = Object.entries(v).filter(([k, x]) => k !== reason && k !== "hint" && (typeof x !== "object" || x === null));
    const head = "verdict" in v ? [v.call ?? v.n ?? v.claim, v.verdict].filter((x) => x !== undefined).join(" ") : rest.map(([k, x]) => `${k} ${x}`).join(", ");
    return excerpt(head ? `${head}: ${v[reason]}` : v[reason]);
  }
  const lists = Object.values(v).filter((x): x is any[] => Array.isArray(x) && x.some((y) => typeof y === "object" && y !== null));
  if (lists.length === 1 && Object.keys(v).length === 1) return excerpt(lists[0].map(inWords).join("; "));
  return argsLine(v);
}

/** Said is what somebody said, as a tree where it is JSON. */
export function Said({ of, max, open = 4, class: c = "", label }: { of: string; max?: number; open?: number; class?: string; label?: string }) {
  const v = structured(of);
  return v === undefined ? <Prose of={of} max={max} class={c} /> : <JsonView value={v} open={open} label={label} />;
}

/** cited is a source in one line. */
export function cited({ title, url, quote }: Source): string {
  return title && url ? `${title}: ${url}` : title || url || quote || "";
}

/** Sources are what a reply cites, each once. Their addresses are no links: a stranger may have chosen them. */
export function Sources({ of }: { of: Source[] }) {
  const all = [...new Set(of.map(cited))].filter(Boolean);
  if (!all.length) return null;
  return <ul class="sources" aria-label="Sources">{all.map((one) => <li key={one} class="hint">source: <Text of={one} /></li>)}</ul>;
}
