import { expect, test } from "./server";

const row = (name: string) => `.rows [role=option]:has-text("${name}")`;

test("a fork is offered where one can begin, and where the server would refuse it another place is named", async ({ page, pawl }) => {
  const { run } = await pawl.start("bolts");
  await pawl.login(page);
  await page.goto(pawl.link(run));
  const { entries } = await pawl.api(`/v1/runs/${run}/events`);
  await page.locator(row("think")).nth(1).click();
  await page.getByRole("button", { name: "Fork…" }).click();
  const at = page.locator("#at");
  const fork = page.getByRole("button", { name: "Fork", exact: true });
  const think = entries.find((e: any) => e.type === "model.called" && e.iteration === 2).seq;
  await expect(at).toHaveValue(String(think + 1)); // its reply
  await expect(page.locator("#at-hint")).toContainText(`nearest to entry ${think}`);
  await expect(fork).toBeEnabled();
  const offered = new Map<number, boolean>();
  for (const { seq } of entries) {
    await at.fill(String(seq));
    offered.set(seq, await fork.isEnabled());
  }
  expect([...offered.values()].filter((ok) => !ok).length).toBeGreaterThan(5);
  for (const [seq, ok] of offered) {
    const said = await pawl.api(`/v1/runs/${run}/fork`, { at: seq }).then(() => "", (e) => String(e));
    expect(said === "", `entry ${seq}: ${said}`).toBe(ok);
    if (ok) continue;
    await at.fill(String(seq));
    const named = await page.locator("#at-hint button").allTextContents();
    const nearest = /nearest places? (?:is|are) (\d+)(?: and (\d+))?/.exec(said)!;
    expect(named.sort()).toEqual(nearest.slice(1).filter(Boolean).sort());
  }
  await at.fill(String(think));
  await page.locator("#at-hint button").first().click();
  await fork.click();
  await expect(page).not.toHaveURL(new RegExp(run));
  await page.getByRole("link", { name: "Timeline" }).click();
  await expect(page.locator(row("forked"))).toBeVisible();
});

test("no edge of the causes runs behind a call, and a refused call is marked", async ({ page, pawl }) => {
  const { run } = await pawl.start("bolts");
  await pawl.login(page);
  await page.goto(pawl.link(run, "causes"));
  await expect(page.locator(".causes .node")).toHaveCount(3);
  await expect(page.locator(".causes .node.refused")).toContainText("c_3 · refused");
  await expect(page.locator(".causes table tr", { hasText: "order" })).toContainText("refused");
  const behind = await page.evaluate(() => {
    const boxes = [...document.querySelectorAll(".causes .node rect")].map((r) => r.getBoundingClientRect());
    return [...document.querySelectorAll<SVGPathElement>(".causes .edge")].filter((edge) => {
      const svg = edge.ownerSVGElement!.getBoundingClientRect();
      const n = edge.getTotalLength();
      for (let d = 4; d < n - 4; d += 2) {
        const p = edge.getPointAtLength(d);
        const [x, y] = [svg.left + p.x, svg.top + p.y];
        if (boxes.some((b) => x > b.left && x < b.right && y > b.top && y < b.bottom)) return true;
      }
      return false;
    }).map((edge) => edge.textContent);
  });
  expect(behind).toEqual([]);
});

test("what judges and models say in JSON is told in words and shown as a tree", async ({ page, pawl }) => {
  const judged = await pawl.start("bolts");
  const parcel = await pawl.start("parcel");
  await pawl.login(page);
  await page.goto(pawl.link(judged.run));
  await expect(page.locator(row("judge.steer"))).toContainText("c_3 refuse: nobody asked for it");
  await expect(page.locator(row("judge.reflexion")).first()).toContainText("confidence 0.75: It counts.");
  await expect(page.locator(".rows")).not.toContainText('{"');
  await page.locator(row("judge.steer")).click();
  await expect(page.locator("#detail .json .string").last()).toContainText("nobody asked for it");
  await page.goto(pawl.link(parcel.run));
  await expect(page.locator(row("think")).first()).toContainText("I make a note first.");
  await expect(page.locator(".rows [role=option]", { hasText: "Now I know." })).toHaveCount(1); // and not in its iteration, too
  await expect(page.locator(".answer .json")).toContainText('place: "Lisbon"');
});

test("a chart that would be empty is left out", async ({ page, pawl }) => {
  const { run } = await pawl.start("bolts");
  await pawl.login(page);
  await page.goto(pawl.link(run, "charts"));
  await expect(page.getByRole("heading", { name: "Tokens" })).toBeVisible();
  await expect(page.getByRole("heading", { name: "Cache" })).toHaveCount(0);
  await expect(page.locator(".legend")).not.toContainText("cache");
});

test("what nobody answered in time cannot be answered, and is asked again", async ({ page, pawl }) => {
  const { run } = await pawl.start("till");
  await pawl.login(page);
  await page.goto(pawl.link(run));
  await expect(page.locator(".summary .status")).toHaveText("expired");
  await expect(page.getByRole("heading", { name: "Not answered in time" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Approve…" })).toHaveCount(0);
  await page.keyboard.press("a");
  await expect(page.locator("dialog")).toHaveCount(0);
  await page.keyboard.press("R");
  await page.getByRole("button", { name: "Resume", exact: true }).click();
  await expect(page.getByRole("heading", { name: "Approve this call?" })).toBeVisible();
});

test("the schema of a reply is shown as one, and not as a tool", async ({ page, pawl }) => {
  const { run } = await pawl.start("sorter");
  await pawl.login(page);
  await page.goto(pawl.link(run, "requests"));
  await expect(page.locator(".block.schema")).toContainText("schema of the reply");
  await expect(page.locator(".block.tool")).toHaveCount(0);
  await expect(page.locator(".answer .json")).toContainText('topic: "router"');
});

test("a graph is drawn, with how far the run has come", async ({ page, pawl }) => {
  const { run } = await pawl.start("notice");
  await pawl.login(page);
  await page.goto(pawl.link(run, "agent"));
  const flow = page.locator(".flow");
  await expect(flow.locator("svg text")).toHaveText(["begin", "draft", "done · round 2", "check", "done · round 2", "print", "done · round 1", "never"]);
  await expect(flow.locator("svg .edge")).toHaveCount(5);
  await flow.locator("td").getByText("check").first().click();
  await expect(page.locator("h1")).toHaveText("notice-check");
});
