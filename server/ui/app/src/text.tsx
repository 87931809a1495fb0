import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import { statusWords, tone } from "./format";

// Texts of models, tools and people are never markup. Invisible characters (terminal
// control, direction overrides, zero width) are shown.

const unseen = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/u;

export function Text({ of }: { of: string }): JSX.Element {
  if (!unseen.test(of)) return <>{of}</>;
  const parts = of.replace(/\r\n/g, "\n").split(new RegExp(`(${unseen.source})`, "u"));
  return (
    <>
      {parts.map((p, i) => (i % 2 ? <Unseen char={p} key={i} /> : p))}
    </>
  );
}

function Unseen({ char }: { char: string }) {
  const code = char.codePointAt(0)!;
  const name = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  return <span class="unseen" title={`${name}, shown as text`}>{code < 32 ? String.fromCodePoint(0x2400 + code) : name}</span>;
}

/** Prose is a longer text, folded when it is very long. */
export function Prose({ of, mono, max = 4000, class: c = "" }: { of: string; mono?: boolean; max?: number; class?: string }) {
  const [all, setAll] = useState(false);
  const cut = !all && of.length > max * 1.2;
  return (
    <div class={`prose ${mono ? "mono" : ""} ${c}`}>
      <Text of={cut ? of.slice(0, max) : of} />
      {cut && <> <button type="button" class="link" onClick={() => setAll(true)}>… show all {of.length.toLocaleString("en-US")} characters</button></>}
    </div>
  );
}

export function Copy({ text, label = "Copy" }: { text: string | (() => string); label?: string }) {
  const [done, setDone] = useState("");
  const copy = async () => {
    const s = typeof text === "string" ? text : text();
    try {
      await navigator.clipboard.writeText(s);
      setDone("Copied");
    } catch {
      setDone("Not allowed here");
    }
    setTimeout(() => setDone(""), 1500);
  };
  return <button type="button" class="quiet small" onClick={copy}>{done || label}</button>;
}

const shapes: Record<string, JSX.Element> = {
  good: <path d="M2.5 6.5 5 9l4.5-6" />,
  limit: <path d="M2 3h8M6 10V6M4 8l2-2 2 2" />,
  ask: <path d="M4 4.2C4 2.9 4.9 2 6.1 2S8 2.9 8 4c0 1.6-2 1.8-2 3.3M6 9.8v.2" />,
  bad: <path d="m3 3 6 6M9 3 3 9" />,
  off: <path d="M4 2.5v7M8 2.5v7" />,
  live: <circle cx="6" cy="6" r="2.5" />,
};

/** Status is a run's status, and its place in the queue. It is never a colour alone: a shape and the word stand with it. */
export function Status({ of, big, position }: { of: string; big?: boolean; position?: number }) {
  const t = tone(of);
  return (
    <span class={`status ${t} ${big ? "big" : ""}`}>
      <svg viewBox="0 0 12 12" aria-hidden="true">{shapes[t]}</svg>
      {statusWords[of] ?? of}{position ? `, no. ${position}` : ""}
    </span>
  );
}

export function Notice({ children, bad }: { children: ComponentChildren; bad?: boolean }) {
  return <div class={`notice ${bad ? "bad" : ""}`} role={bad ? "alert" : "status"}>{children}</div>;
}

export function Labels({ of }: { of: Record<string, string> | null | undefined }) {
  const all = Object.entries(of ?? {});
  if (!all.length) return null;
  return <span class="labels">{all.map(([k, v]) => <span class="label" key={k}><Text of={k} /><b><Text of={v} /></b></span>)}</span>;
}
