import { useEffect, useRef } from "preact/hooks";

// Keys are single letters, or two in a row such as "g r". Fields get all keys except
// Escape.

export type Keys = Record<string, (e: KeyboardEvent) => void>;

const stack: { current: Keys; level: number }[] = []; // the innermost last
let pending = "";
let timer = 0;

function typing(e: KeyboardEvent): boolean {
  const el = e.target as HTMLElement | null;
  return !!el && (el.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(el.tagName));
}

function onKey(e: KeyboardEvent): void {
  if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey) return;
  if (document.querySelector("dialog[open]")) return; // it has its own keys
  if (typing(e)) {
    if (e.key === "Escape") (e.target as HTMLElement).blur();
    return;
  }
  // A focused button or link keeps the keys that activate it.
  if ((e.key === "Enter" || e.key === " ") && (e.target as HTMLElement)?.closest?.("a,button,summary,[role=tab]")) return;
  const key = pending ? `${pending} ${e.key}` : e.key;
  clearTimeout(timer);
  pending = "";
  for (let i = stack.length - 1; i >= 0; i--) {
    const keys = stack[i].current;
    const f = keys[key];
    if (f) {
      e.preventDefault();
      f(e);
      return;
    }
    if (Object.keys(keys).some((k) => k.startsWith(`${key} `))) {
      pending = key;
      timer = window.setTimeout(() => (pending = ""), 1200);
      e.preventDefault();
      return;
    }
  }
}

addEventListener("keydown", onKey);

/** useKeys gives keys a meaning while a component is there. Of two meanings that of the higher level counts. */
export function useKeys(keys: Keys, level: 0 | 1 | 2): void {
  const ref = useRef({ current: keys, level }).current;
  ref.current = keys;
  useEffect(() => {
    stack.push(ref);
    stack.sort((a, b) => a.level - b.level);
    return () => void stack.splice(stack.indexOf(ref), 1);
  }, []);
}
