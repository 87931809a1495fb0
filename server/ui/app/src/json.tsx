import { useState } from "preact/hooks";
import { exactNumber } from "./exact";
import { Copy, Text } from "./text";

// JSON as a tree that folds. Long lists and texts begin folded, so that large results
// stay cheap.

const many = 100;
const long = 1200;

export function JsonView({ value, label, open = 3 }: { value: unknown; label?: string; open?: number }) {
  return (
    <div class="json">
      <div class="bar">
        {label && <span>{label}</span>}
        <Copy text={() => (typeof value === "string" ? value : JSON.stringify(value, null, 2))} />
      </div>
      <div class="tree"><Node value={value} depth={0} open={open} last /></div>
    </div>
  );
}

function Node({ name, value, depth, open, last }: { name?: string; value: unknown; depth: number; open: number; last?: boolean }) {
  const compound = typeof value === "object" && value !== null && exactNumber(value) === undefined;
  const list = Array.isArray(value);
  const size = compound ? (list ? value.length : Object.keys(value).length) : 0;
  const [shown, setShown] = useState(depth < open && size <= many);
  const [limit, setLimit] = useState(many);
  const key = name === undefined ? null : <span class="k"><Text of={name} />: </span>;
  const comma = last ? "" : ",";
  if (!compound) return <div class="row">{key}<Leaf value={value} />{comma}</div>;
  const [a, b] = list ? "[]" : "{}";
  if (!size) return <div class="row">{key}{a}{b}{comma}</div>;
  const items = list ? value.map((v, i) => [String(i), v] as const) : Object.entries(value);
  return (
    <div>
      <div class="row">
        <button type="button" class="fold" aria-expanded={shown} aria-label={`${shown ? "fold" : "unfold"} ${name ?? "value"}`} onClick={() => setShown(!shown)}>{shown ? "▾" : "▸"}</button>
        {key}{a}{!shown && <button type="button" class="link" onClick={() => setShown(true)}>{size} {list ? (size === 1 ? "item" : "items") : size === 1 ? "key" : "keys"}</button>}{!shown && <>{b}{comma}</>}
      </div>
      {shown && (
        <div class="kids">
          {items.slice(0, limit).map(([k, v], i) => <Node key={k} name={list ? undefined : k} value={v} depth={depth + 1} open={open} last={i === size - 1} />)}
          {size > limit && <button type="button" class="link" onClick={() => setLimit(limit + 500)}>{size - limit} more</button>}
        </div>
      )}
      {shown && <div class="row">{b}{comma}</div>}
    </div>
  );
}

function Leaf({ value }: { value: unknown }) {
  const [all, setAll] = useState(false);
  const exact = exactNumber(value);
  if (exact !== undefined) return <span class="number">{exact}</span>;
  if (typeof value !== "string") return <span class={value === null ? "nil" : typeof value}>{String(value)}</span>;
  const cut = !all && value.length > long * 1.2;
  return (
    <span class="string">
      "<Text of={cut ? value.slice(0, long) : value} />{cut && <button type="button" class="link" onClick={() => setAll(true)}>… {value.length - long} more characters</button>}"
    </span>
  );
}
