import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import { far, statusWords, tone } from "./format";

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

/** Far is how far a running call is, as it reports it. */
export function Far({ of }: { of: { fraction?: number; text?: string } }) {
  return <span class="far">{of.fraction ? <progress max={1} value={of.fraction} aria-label="Progress" /> : null}<Text of={far(of)} /></span>;
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

/** Id is the id of a run or a key, which can be copied. */
export function Id({ of }: { of: string }) {
  const [done, setDone] = useState(false);
  const copy = async (e: Event) => {
    e.stopPropagation(); // the row beneath opens the run
    await navigator.clipboard?.writeText(of).then(() => setDone(true), () => {});
    setTimeout(() => setDone(false), 1500);
  };
  return (
    <span class="id">
      <span class="mono" title={of}>{of}</span>
      <button type="button" class="copy" aria-label={done ? "Copied" : `Copy ${of}`} title="Copy" onClick={copy}>
        <svg viewBox="0 0 12 12" aria-hidden="true">{done ? shapes.success : <path d="M4.5 4.5h6v6h-6zM2.5 8h-1V1.5H8v1" />}</svg>
      </button>
    </span>
  );
}

// Two statuses that a person must tell apart have two shapes, whatever their colours.
const question = <path d="M4 4.2C4 2.9 4.9 2 6.1 2S8 2.9 8 4c0 1.6-2 1.8-2 3.3M6 9.8v.2" />;
const cross = <path d="m3 3 6 6M9 3 3 9" />;
const shapes: Record<string, JSX.Element> = {
  success: <path d="M2.5 6.5 5 9l4.5-6" />,
  exhausted: <path d="M2 2.5h8M6 10V5.5M4 7.5l2-2 2 2" />,
  no_progress: <path d="M9.5 4.5A4 4 0 1 0 10 7M9.8 1.8v2.9H6.9" />,
  waiting_approval: question,
  waiting_input: <path d="M2 2.5h8v5.5H6.5L4 10V8H2z" />,
  waiting_client_tool: <path d="M2 6h7M6.5 3 9.5 6l-3 3" />,
  waiting_doubt: <path d="M6 1.8 10.8 10H1.2zM6 4.8v2.4M6 8.6v.1" />,
  expired: <path d="M6 1.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9M6 3.5V6l1.8 1.5" />,
  denied: <path d="M6 1.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9M3 9l6-6" />,
  plan_failed: <path d="M2 2h8v8H2zM4.2 4.2l3.6 3.6M7.8 4.2 4.2 7.8" />,
  failed: cross,
  cancelled: <path d="M2.5 2.5h7v7h-7z" />,
  paused: <path d="M4 2.5v7M8 2.5v7" />,
  interrupted: <path d="M7 1.5 3.5 6.5H6L5 10.5 8.5 5.5H6z" />,
  running: <circle cx="6" cy="6" r="2.5" />,
  queued: <path d="M2 3h8M2 6h8M2 9h5" />,
};

/** Status is a run's status, and its place in the queue: a colour, a shape and the word. */
export function Status({ of, big, position }: { of: string; big?: boolean; position?: number }) {
  const t = tone(of);
  return (
    <span class={`status ${t} ${big ? "big" : ""}`}>
      <svg viewBox="0 0 12 12" aria-hidden="true">{shapes[of]}</svg>
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
