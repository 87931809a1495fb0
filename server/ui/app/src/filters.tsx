import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";
import { spans, type Filter } from "./filter";
import { statusWords } from "./format";

/** Filters are the fields above the list. */
export function Filters({ filter, set, agents, field, children }: { filter: Filter; set: (f: Partial<Filter>) => void; agents: string[]; field: RefObject<HTMLInputElement | null>; children: ComponentChildren }) {
  return (
    <div class="filters" role="search">
      <Typed type="search" label="Search" placeholder="Search input, answer, id, agent, label=value" value={filter.search} set={(search) => set({ search })} field={field} />
      <div class="choices">
      <select aria-label="Status" value={filter.status} onChange={(e) => set({ status: e.currentTarget.value })}>
        <option value="">Any status</option>
        <option value="waiting">waits for somebody</option>
        {Object.entries(statusWords).map(([s, name]) => <option value={s} key={s}>{name}</option>)}
      </select>
      <select aria-label="Agent" value={filter.agent} onChange={(e) => set({ agent: e.currentTarget.value })}>
        <option value="">Any agent</option>
        {agents.map((a) => <option value={a} key={a}>{a}</option>)}
      </select>
      <select aria-label="Started" value={filter.time} onChange={(e) => set({ time: e.currentTarget.value, since: "", until: "" })}>
        <option value="">Any time</option>
        <option value="today">today</option>
        {spans.map(([value, name]) => <option value={value} key={value}>{name}</option>)}
        <option value="own">from … to …</option>
      </select>
      {filter.time === "own" && <>
        <input type="datetime-local" aria-label="Started from" value={filter.since} onChange={(e) => set({ since: e.currentTarget.value })} />
        <input type="datetime-local" aria-label="Started before" value={filter.until} onChange={(e) => set({ until: e.currentTarget.value })} />
      </>}
      <Typed type="number" label="Cost at least, in dollars" placeholder="$ at least" value={filter.min} set={(min) => set({ min })} />
      </div>
      {children}
    </div>
  );
}

// What is typed counts when the typing stops, not at each letter.
function Typed({ type, label, placeholder, value, set, field }: { type: "search" | "number"; label: string; placeholder: string; value: string; set: (s: string) => void; field?: RefObject<HTMLInputElement | null> }) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text === value) return;
    const timer = window.setTimeout(() => set(text), 300);
    return () => clearTimeout(timer);
  }, [text]);
  const own = { placeholder, "aria-label": label, value: text, onInput: (e: { currentTarget: HTMLInputElement }) => setText(e.currentTarget.value) };
  return type === "number" ? <input type="number" min={0} step="any" {...own} /> : <input ref={field} type="search" {...own} />;
}
