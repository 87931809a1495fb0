import type { Graph } from "./types";

// The layout of a graph of calls: in columns, each right of
// its origins. An edge over several columns has a lane of its own between
// the calls of those in between, so that it never runs behind one.

export const NODE = { width: 138, height: 36 };
const COLUMN = 190;
const ROW = 58;
const LANE = 22;
const MARGIN = 12;
const BACK = 40; // the room below for edges that lead back

export interface Point { x: number; y: number }
export interface Placed { nodes: Map<string, Point>; paths: string[]; width: number; height: number }

interface Item { key: string; node: boolean; from: string[]; y: number }

/** place lays a graph out; last is the node that is alone in the last column, if there is one. */
export function place(g: Graph, last = ""): Placed {
  const depth = depths(g, last);
  const columns: Item[][] = [];
  const items = new Map<string, Item>();
  const item = (key: string, column: number, node: boolean): Item => {
    let it = items.get(key);
    if (!it) {
      it = { key, node, from: [], y: 0 };
      items.set(key, it);
      (columns[column] ??= []).push(it);
    }
    return it;
  };
  for (const n of g.nodes) item(n.id, depth.get(n.id)!, true);
  // The edges of one call share its lanes until they turn off.
  const lane = (from: string, column: number) => (column === depth.get(from) ? from : `${from}\u0000${column}`);
  for (const e of g.edges) {
    const a = depth.get(e.from);
    const b = depth.get(e.to);
    if (a === undefined || b === undefined || b <= a) continue;
    for (let c = a + 1; c < b; c++) item(lane(e.from, c), c, false).from = [lane(e.from, c - 1)];
    items.get(e.to)!.from.push(lane(e.from, b - 1));
  }
  // Nodes near their origins cross few edges.
  columns.forEach((column, x) => {
    const before = new Map(columns[x - 1]?.map((it, i) => [it.key, i]));
    const weight = (it: Item) => {
      const at = it.from.map((key) => before.get(key)).filter((i) => i !== undefined);
      return at.length ? at.reduce((sum, i) => sum + i, 0) / at.length : Infinity;
    };
    const weights = new Map(column.map((it) => [it, weight(it)]));
    const order = (a: Item, b: Item) => {
      const [p, q] = [weights.get(a)!, weights.get(b)!];
      return (p === q ? 0 : p - q) || Number(b.node) - Number(a.node);
    };
    if (x > 0) column.sort(order);
    let y = MARGIN;
    for (const it of column) {
      it.y = y + (it.node ? NODE.height : LANE) / 2;
      y += it.node ? ROW : LANE;
    }
  });
  const left = (column: number) => MARGIN + column * COLUMN;
  const back = g.edges.some((e) => depth.get(e.to)! <= depth.get(e.from)!);
  const bottom = Math.max(...[...items.values()].map((it) => it.y + (it.node ? NODE.height : LANE) / 2)) + (back ? BACK : 0);
  const paths = g.edges.map((e) => {
    const a = depth.get(e.from);
    const b = depth.get(e.to);
    if (a === undefined || b === undefined) return "";
    if (b <= a) { // back below what is in between
      const [x1, x2, low] = [left(a) + NODE.width / 2, left(b) + NODE.width / 2 + 10, bottom - BACK];
      return `M${x1} ${items.get(e.from)!.y + NODE.height / 2}C${x1} ${low + BACK} ${x2 + NODE.width / 2} ${low + BACK} ${x2} ${items.get(e.to)!.y + NODE.height / 2 + 2}`;
    }
    let x = left(a) + NODE.width;
    let y = items.get(e.from)!.y;
    let path = `M${x} ${y}`;
    const curve = (toX: number, toY: number) => {
      const m = Math.max(24, (toX - x) / 2);
      path += `C${x + m} ${y} ${toX - m} ${toY} ${toX} ${toY}`;
      [x, y] = [toX, toY];
    };
    for (let c = a + 1; c < b; c++) {
      curve(left(c), items.get(lane(e.from, c))!.y);
      x = left(c) + NODE.width;
      path += `H${x}`;
    }
    curve(left(b) - 2, items.get(e.to)!.y);
    return path;
  });
  const nodes = new Map(g.nodes.map((n) => [n.id, { x: left(depth.get(n.id)!), y: items.get(n.id)!.y - NODE.height / 2 }]));
  return { nodes, paths, width: left(columns.length - 1) + NODE.width + MARGIN, height: bottom + MARGIN };
}

// depths is the column of each node: one more than its rightmost origin.
function depths(g: Graph, last: string): Map<string, number> {
  const into = new Map<string, string[]>();
  for (const e of g.edges) if (!e.back) into.set(e.to, [...(into.get(e.to) ?? []), e.from]);
  const depth = new Map<string, number>();
  const at = (id: string, seen: Set<string>): number => {
    const d = depth.get(id);
    if (d !== undefined) return d;
    if (seen.has(id)) return 0;
    seen.add(id);
    const n = Math.max(-1, ...(into.get(id) ?? []).map((f) => at(f, seen))) + 1;
    depth.set(id, n);
    return n;
  };
  for (const n of g.nodes) at(n.id, new Set());
  if (last && depth.has(last)) depth.set(last, Math.max(-1, ...[...depth].filter(([id]) => id !== last).map(([, d]) => d)) + 1);
  // Nodes of a cycle may leave a column empty.
  const used = [...new Set(depth.values())].sort((a, b) => a - b);
  for (const [id, d] of depth) depth.set(id, used.indexOf(d));
  return depth;
}
