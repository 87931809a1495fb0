import { expect, test, type Pawl } from "./server";
import type { Page } from "@playwright/test";

const row = (name: string) => `.rows [role=option]:has-text("${name}")`;
const picture = async (page: Page, name: string) => process.env.PAWL_LOOK && (await page.screenshot({ path: `${process.env.PAWL_LOOK}/${name}.png`, fullPage: true }));
const ended = (pawl: Pawl, run: string) => expect.poll(async () => (await pawl.api(`/v1/runs/${run}`)).status).toBe("success");

test("the legs of a conversation lead to each other", async ({ page, pawl }) => {
  const { run } = await pawl.start("frontdesk"); // the last leg
  await ended(pawl, run);
  await pawl.login(page);
  await page.goto(pawl.link(run));
  const legs = page.getByRole("navigation", { name: "Legs" });
  await expect(legs.locator("li")).toHaveText(["frontdesk", "billing"]);
  await expect(legs.locator("li[aria-current]")).toHaveText("billing");
  await expect(legs).toContainText("frontdesk: a payment that was made twice");
  await expect(page.locator(row("frontdesk: a payment that was made twice"))).toBeVisible();
  await expect(page.locator(row("handoff_to_billing"))).toHaveCount(0);
  await page.locator(".rows [role=option]").first().dblclick();
  await expect(page.locator(row("handoff_to_billing")).first()).toBeVisible();
  await picture(page, "legs");
  await legs.getByRole("link", { name: "frontdesk" }).click();
  await expect(page.locator("h1")).toHaveText("frontdesk");
  await expect(legs.locator("li")).toHaveText(["frontdesk", "billing"]);
  await picture(page, "leg");
  await legs.getByRole("link", { name: "billing" }).click();
  await expect(page.locator("h1")).toHaveText("billing");
});

test("what happened on a board is told in words, and its tasks are a table", async ({ page, pawl }) => {
  const { run } = await pawl.start("stocktake");
  await pawl.login(page);
  await page.goto(pawl.link(run));
  await expect(page.locator(row("claims t1"))).toBeVisible();
  await expect(page.locator(".rows")).not.toContainText("__board__");
  await page.goto(pawl.link(run, "agent"));
  const tasks = page.locator(".board tbody tr");
  await expect(tasks.first()).toContainText("done");
  await expect(tasks.getByText("open")).toHaveCount(0);
  await picture(page, "board");
  await tasks.first().getByRole("link").click();
  await expect(page.locator("h1")).toHaveText("counter");
});

test("no edge of a graph that fans out runs behind a node", async ({ page, pawl }) => {
  const { run } = await pawl.start("enquiry");
  await ended(pawl, run);
  await pawl.login(page);
  for (const graph of [run, (await pawl.start("notice")).run]) {
    await page.goto(pawl.link(graph, "agent"));
    await expect(page.locator(".flow .node").nth(1)).toBeVisible();
    await picture(page, `graph-${graph === run ? "enquiry" : "notice"}`);
    const wrong = await page.evaluate(() => {
      const boxes = [...document.querySelectorAll(".flow .node rect")].map((r) => r.getBoundingClientRect());
      return [...document.querySelectorAll<SVGPathElement>(".flow .edge")].flatMap((edge) => {
        const svg = edge.ownerSVGElement!.getBoundingClientRect();
        const n = edge.getTotalLength();
        const said = [];
        for (let d = 4; d < n - 4; d += 2) {
          const p = edge.getPointAtLength(d);
          const [x, y] = [svg.left + p.x, svg.top + p.y];
          if (boxes.some((b) => x > b.left && x < b.right && y > b.top && y < b.bottom)) said.push(`${edge.textContent} at ${Math.round(p.x)} ${Math.round(p.y)}`);
          if (p.y > svg.height || p.x < 0) said.push(`${edge.textContent} leaves the picture`);
        }
        return said.slice(0, 1);
      });
    });
    expect(wrong).toEqual([]);
  }
  await page.goto(pawl.link(run, "agent"));
  const left = async (id: string) => (await page.locator(".flow .node", { hasText: id }).boundingBox())!.x;
  expect(await left("letter"), "an edge that leads on leads to the right").toBeGreaterThan(await left("answer")); // whatever a node is called
});
