// A line diff: the longest common subsequence, after the equal ends are
// removed. Texts that differ in too much to compare are shown as replaced.

export interface Change { kind: "same" | "add" | "del"; lines: string[] }

const MOST = 4_000_000; // pairs of lines

export function diff(a: string[], b: string[]): Change[] {
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const n = a.length - tail;
  const m = b.length - tail;
  const w = m - head + 1;
  // left[at(i, j)] is how many lines a from i and b from j have in common.
  const left = (n - head) * w <= MOST ? new Uint16Array((n - head + 1) * w) : undefined;
  const at = (i: number, j: number) => (i - head) * w + j - head;
  if (left) {
    for (let i = n - 1; i >= head; i--) {
      for (let j = m - 1; j >= head; j--) {
        left[at(i, j)] = a[i] === b[j] ? left[at(i + 1, j + 1)] + 1 : Math.max(left[at(i + 1, j)], left[at(i, j + 1)]);
      }
    }
  }
  const out: Change[] = [];
  const push = (kind: Change["kind"], line: string) => {
    const l = out[out.length - 1];
    if (l?.kind === kind) l.lines.push(line);
    else out.push({ kind, lines: [line] });
  };
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    if (i < head || i >= n && j >= m || left && i < n && j < m && a[i] === b[j]) {
      push("same", a[i++]);
      j++;
    } else if (j >= m || i < n && (!left || left[at(i + 1, j)] >= left[at(i, j + 1)])) push("del", a[i++]);
    else push("add", b[j++]);
  }
  return out;
}
