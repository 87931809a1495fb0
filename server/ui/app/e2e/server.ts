import { test as base, expect, type Page } from "@playwright/test";
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const bin = process.env.PAWL_BIN!;
export const specs = resolve(import.meta.dirname, "../../testdata");

/** A Pawl is a real pawl serve on a database of its own. */
export class Pawl {
  address = "";
  token = "";
  private child!: ChildProcess;
  private said = "";

  constructor(readonly dir = mkdtempSync(join(tmpdir(), "pawl-e2e-"))) {}

  env() {
    const { PATH } = process.env;
    return { PATH, HOME: this.dir, PAWL_DATABASE: `sqlite:${join(this.dir, "runs.db")}` };
  }

  /** serve starts the process; the link that it prints is what logs in. */
  async serve(): Promise<void> {
    this.said = "";
    this.child = spawn(bin, ["serve", "restock.yaml", "courier.yaml", "desk.yaml", "survey.yaml", "picker.yaml", "bolts.yaml", "parcel.yaml", "till.yaml", "sorter.yaml", "notice.yaml", "minutes.yaml", "cashier.yaml", "scanner.yaml", ...["frontdesk", "stocktake", "enquiry"].map((name) => `../../../examples/specs/${name}.yaml`), "--addr", "127.0.0.1:0"], { cwd: specs, env: this.env(), stdio: ["ignore", "pipe", "pipe"] });
    this.child.stderr!.on("data", (b) => (this.said += b));
    this.child.stdout!.on("data", (b) => (this.said += b));
    for (let i = 0; i < 200; i++) {
      const m = /(http:\/\/127\.0\.0\.1:\d+)\/#token=([\w-]+)/.exec(this.said);
      if (m) {
        [, this.address, this.token] = m;
        return;
      }
      await new Promise((done) => setTimeout(done, 50));
    }
    throw new Error(`pawl serve did not print its link:\n${this.said}`);
  }

  kill(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    return new Promise((done) => {
      if (this.child.exitCode !== null || this.child.signalCode) return done();
      this.child.once("exit", () => done());
      this.child.kill(signal);
    });
  }

  /** crash is a machine that lost its power: the tools and who watches them die, too. */
  async crash(): Promise<void> {
    const parents = new Map<number, number>();
    for (const p of readdirSync("/proc").filter((n) => /^\d+$/.test(n)).map(Number)) {
      try {
        parents.set(p, Number(readFileSync(`/proc/${p}/stat`, "utf8").split(") ")[1].split(" ")[1]));
      } catch {
        // It has ended by itself.
      }
    }
    const below = (p: number): boolean => p === this.child.pid || (parents.has(p) && below(parents.get(p)!));
    const all = [...parents.keys()].filter((p) => p !== this.child.pid && below(p));
    const gone = this.kill("SIGKILL");
    for (const p of all) {
      try {
        process.kill(p, "SIGKILL");
      } catch {
        // It went with the one before.
      }
    }
    await gone;
  }

  async end(): Promise<void> {
    await this.crash();
    rmSync(this.dir, { recursive: true, force: true });
  }

  async api(path: string, body?: unknown): Promise<any> {
    const r = await fetch(this.address + path, {
      method: body === undefined ? "GET" : "POST",
      headers: { Authorization: `Bearer ${this.token}`, ...(body === undefined ? {} : { "Content-Type": "application/json" }) },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    if (!r.ok) throw new Error(`${path}: ${r.status} ${await r.text()}`);
    return r.json();
  }

  /** start starts a run, and gives it when it has ended or waits. */
  start(agent: string, more: object = {}): Promise<any> {
    return this.api("/v1/runs?wait=true", { agent, ...more });
  }

  link(run = "", tab = "timeline"): string {
    return `${this.address}/#/${run ? `runs/${run}/${tab}` : ""}`;
  }

  async login(page: Page): Promise<void> {
    await page.goto(`${this.address}/#token=${this.token}`);
    await expect(page.getByRole("heading", { name: "Runs", exact: true })).toBeVisible();
    await page.evaluate(() => localStorage.setItem("pawl-name", "Ann"));
    await page.reload();
    await expect(page.getByRole("heading", { name: "Runs", exact: true })).toBeVisible();
  }
}

/** watched is a page that may say nothing on its console and ask nobody else for anything. */
export const test = base.extend<{ watched: void; expected: RegExp[] }, { pawl: Pawl }>({
  pawl: [async ({}, use) => {
    const p = new Pawl();
    await p.serve();
    await use(p);
    await p.end();
  }, { scope: "worker" }],
  expected: async ({}, use) => use([]),
  watched: [async ({ page, expected }, use) => {
    const bad: string[] = [];
    page.on("console", (m) => ["error", "warning"].includes(m.type()) && bad.push(`console: ${m.text()}`));
    page.on("pageerror", (e) => bad.push(`error: ${e.message}`));
    page.on("dialog", (d) => { bad.push(`dialog: ${d.message()}`); void d.dismiss(); });
    page.on("request", (r) => { if (!/^http:\/\/127\.0\.0\.1:\d+\//.test(r.url())) bad.push(`request: ${r.url()}`); });
    await use();
    expect(bad.filter((b) => !expected.some((e) => e.test(b)))).toEqual([]);
  }, { auto: true }],
});

export { expect };
