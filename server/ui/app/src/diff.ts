// A line diff by Myers' greedy algorithm (E. W. Myers, "An O(ND) Difference
// Algorithm and Its Variations", Algorithmica 1, 1986), after the equal ends
// are removed. Texts that differ in more than MOST lines are shown as replaced.

export interface Change { kind: "same" | "add" | "del"; lines: string[] }

const MOST = 2000;

export function diff(a: string[], b: string[]): Change[] {
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const out: Change[] = [];
  const push = (kind: Change["kind"], lines: string[]) => {
    if (!lines.length) return;
    const l = out[out.length - 1];
    if (l?.kind === kind) l.lines.push(...lines);
    else out.push({ kind, lines: [...lines] });
  };
  push("same", a.slice(0, head));
  for (const c of middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail))) push(c.kind, c.lines);
  push("same", a.slice(a.length - tail));
  return out;
}

function middle(a: string[], b: string[]): Change[] {
  if (!a.length || !b.length) return [{ kind: "del", lines: a }, { kind: "add", lines: b }];
  const max = Math.min(a.length + b.length, MOST);
  const trace: Int32Array[] = [];
  let v: Int32Array = new Int32Array(2 * max + 3);
  const o = max + 1;
  let found = -1;
  outer: for (let d = 0; d <= max; d++) {
    trace.push(v.slice());
    for (let k = -d; k <= d; k += 2) {
      let x = k === -d || (k !== d && v[o + k - 1] < v[o + k + 1]) ? v[o + k + 1] : v[o + k - 1] + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      v[o + k] = x;
      if (x >= a.length && x - k >= b.length) {
        found = d;
        break outer;
      }
    }
  }
  if (found < 0) return [{ kind: "del", lines: a }, { kind: "add", lines: b }];
  const out: Change[] = [];
  let x = a.length;
  let y = b.length;
  for (let d = found; d >= 0; d--) {
    v = trace[d];
    const k = x - y;
    const down = k === -d || (k !== d && v[o + k - 1] < v[o + k + 1]);
    const pk = down ? k + 1 : k - 1;
    const px = d === 0 ? 0 : v[o + pk];
    const py = d === 0 ? 0 : px - pk;
    while (x > px && y > py && x > 0 && y > 0 && a[x - 1] === b[y - 1]) {
      out.push({ kind: "same", lines: [a[--x]] });
      y--;
    }
    if (d === 0) break;
    if (down) out.push({ kind: "add", lines: [b[--y]] });
    else out.push({ kind: "del", lines: [a[--x]] });
  }
  // Within a change, removed lines come before added ones.
  out.reverse();
  const merged: Change[] = [];
  for (let i = 0; i < out.length; ) {
    if (out[i].kind === "same") {
      merged.push(out[i++]);
      continue;
    }
    const del: string[] = [];
    const add: string[] = [];
    for (; i < out.length && out[i].kind !== "same"; i++) (out[i].kind === "del" ? del : add).push(...out[i].lines);
    if (del.length) merged.push({ kind: "del", lines: del });
    if (add.length) merged.push({ kind: "add", lines: add });
  }
  return merged;
}
