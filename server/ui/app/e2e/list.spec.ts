import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "./server";

const rows = ".list tbody tr";

test("what the list shows is in its address, and a view keeps it", async ({ page, pawl }) => {
  const desk = await pawl.start("desk", { labels: { view: "mine" } });
  const shop = await pawl.start("restock", { labels: { view: "mine" } });
  await pawl.login(page);
  await page.getByLabel("Search", { exact: true }).fill("view=mine");
  await expect(page.locator(rows)).toHaveCount(2);
  await expect(page.locator(rows, { hasText: shop.run })).toContainText("The weekend is coming.");
  await expect(page.locator(rows, { hasText: shop.run })).toContainText("Approve: place_order");
  await page.getByLabel("Search", { exact: true }).fill("view=mine LAMP dar");
  await expect(page.locator(rows)).toHaveCount(1);
  await expect(page.locator(rows)).toContainText(desk.run);
  await page.getByLabel("Started", { exact: true }).selectOption("24h");
  await expect(page).toHaveURL(/#\/\?q=view%3Dmine\+LAMP\+dar&time=24h$/);
  await page.getByRole("button", { name: "Save this view…" }).click();
  await page.getByLabel("Name").fill("Lamps");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("link", { name: "All", exact: true }).click();
  await expect(page.locator(rows, { hasText: shop.run })).toBeVisible();
  await page.getByRole("link", { name: "Failed today" }).click();
  await expect(page.locator(rows, { hasText: shop.run })).toHaveCount(0);
  await page.getByRole("link", { name: /^Waiting/ }).click();
  await expect(page.locator(rows, { hasText: shop.run })).toBeVisible();
  await expect(page.locator(rows, { hasText: desk.run })).toBeVisible();
  await page.reload();
  await page.getByRole("link", { name: "Lamps" }).click();
  await expect(page.locator(rows)).toHaveCount(1);
  await expect(page.getByLabel("Search", { exact: true })).toHaveValue("view=mine LAMP dar");
  await page.getByRole("button", { name: `Copy ${desk.run}` }).click(); // which does not open the run
  await expect(page.getByRole("button", { name: "Copied" })).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(desk.run);
  // Back from a run the list is as it was.
  await page.locator(rows).click();
  await expect(page.locator(".run[data-loaded]")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.locator(rows)).toHaveCount(1);
  await page.getByRole("button", { name: "Remove the view Lamps" }).click();
  await expect(page.getByRole("link", { name: "Lamps" })).toHaveCount(0);
  await page.getByLabel("Search", { exact: true }).fill("");
  await page.getByLabel("Started", { exact: true }).selectOption("own");
  await page.getByLabel("Started from").fill("2020-01-01T00:00");
  await page.getByLabel("Started before").fill("2020-01-02T00:00");
  await expect(page.getByText("No run matches.")).toBeVisible();
});

test("many runs are decided at once, and the outcome of each is shown", async ({ page, pawl, expected }) => {
  expected.push(/409/); // what somebody else has decided
  const label = { many: "yes" };
  const asks = await Promise.all([pawl.start("restock", { labels: label }), pawl.start("restock", { labels: label })]);
  const desk = await pawl.start("desk", { labels: label });
  await pawl.login(page);
  await page.getByLabel("Search", { exact: true }).fill("many=yes");
  await expect(page.locator(rows)).toHaveCount(3);
  await page.getByLabel("Select all runs shown").check();
  await page.getByRole("button", { name: "Approve 2…" }).click();
  await expect(page.getByRole("dialog")).toContainText("It does not apply to 1 of the 3 selected");
  await expect(page.locator(".deeds li")).toHaveCount(2);
  // Meanwhile somebody denies one of them.
  await pawl.api(`/v1/runs/${asks[0].run}/calls/${asks[0].pending[0].call}/deny?wait=true`, {});
  await page.getByRole("button", { name: "Approve 2 calls" }).click();
  await expect(page.getByRole("alert")).toContainText("1 request accepted, 1 refused.");
  await expect(page.locator(".deeds li", { hasText: asks[1].run.slice(-8) })).toContainText("approved");
  await expect(page.locator(".deeds .outcome.bad")).toHaveCount(1);
  await page.keyboard.press("Escape");
  await expect(page.getByRole("group", { name: "Selection" })).toHaveCount(0);
  await page.locator(rows, { hasText: desk.run }).getByRole("checkbox").check();
  await page.getByRole("button", { name: "Cancel 1…" }).click();
  await page.getByLabel("Reason").fill("enough");
  await page.getByRole("button", { name: "Cancel 1 run" }).click();
  await expect(page.getByRole("dialog")).toContainText("1 request accepted.");
  await expect.poll(async () => (await pawl.api(`/v1/runs/${desk.run}`)).status).toBe("cancelled");
});

test("two runs side by side: where they part, what they cost, what they answered", async ({ page, pawl, expected }) => {
  expected.push(/404/); // a run that is not there
  const a = await pawl.start("desk", { labels: { pair: "yes" } });
  const b = await pawl.start("desk", { labels: { pair: "yes" } });
  await pawl.api(`/v1/runs/${a.run}/calls/${a.pending[0].call}/answer?wait=true`, { text: "Yes, it is." });
  await pawl.login(page);
  await page.getByLabel("Search", { exact: true }).fill("pair=yes");
  await expect(page.locator(rows)).toHaveCount(2);
  await page.getByLabel("Select all runs shown").check();
  await page.getByRole("link", { name: "Compare" }).click();
  await expect(page.locator(".compare thead")).toContainText(a.run);
  await expect(page.locator(".compare .sides > div").first()).toContainText("Yes, it is.");
  await expect(page.locator(".compare .sides > div").last()).toContainText("Nothing follows in this log.");
  await expect(page.locator(".compare ins, .compare del").first()).toContainText("Then it is the bulb.");
  await pawl.api(`/v1/runs/${b.run}/calls/${b.pending[0].call}/answer?wait=true`, { text: "Yes, it is." });
  await page.reload();
  await expect(page.getByRole("heading", { name: "What they did is the same" })).toBeVisible();
  await page.goto(`${pawl.address}/#/compare/${a.run}/nobody`);
  await expect(page.getByRole("alert")).toContainText("Run not found");
});

test("cost and outcome over time, by agent and by label", async ({ page, pawl }) => {
  await pawl.start("restock", { labels: { charted: "yes" }, limits: { iterations: 2 } });
  await pawl.login(page);
  await page.getByRole("link", { name: "Cost", exact: true }).click();
  const row = page.locator(".stats tbody tr", { hasText: "restock" });
  await expect(row).toContainText("$0.0");
  await expect(row.locator("rect.limit").first()).toBeVisible();
  await expect(row.locator("rect.money").first()).toBeVisible();
  const most = await page.locator(".stats tbody .plot > span:first-child").allTextContents();
  expect(new Set(most).size).toBeLessThanOrEqual(2); // one scale of runs and one of dollars
  await expect(page.locator(".stats .axis").first()).toContainText(/\d\d-\d\d.*\d\d-\d\d/);
  await page.getByLabel("Group by label").fill("charted");
  await page.getByRole("button", { name: "Show" }).click();
  await page.getByLabel("Time", { exact: true }).selectOption("24h");
  await expect(page).toHaveURL(/#\/stats\?time=24h&label=charted$/);
  await expect(page.locator(".stats tbody tr", { hasText: "yes" }).locator("td").first()).toHaveText("1");
});

test("what budgets have spent, across runs", async ({ page, pawl }) => {
  await pawl.start("desk", { labels: { budgeted: "yes" } });
  await pawl.login(page);
  await page.getByRole("link", { name: "Budgets" }).click();
  const row = page.locator(".budgets tbody tr", { hasText: "budgeted=yes" });
  await expect(row.locator("td")).toHaveText(["total", /^[1-9]\d* tokens$/, "0 tokens", /tokens$/, "1,000,000 tokens", "never"]);
});

test("a queued run shows its place in the queue", async ({ page, pawl }) => {
  writeFileSync(join(pawl.dir, "clerk.yaml"), "name: clerk\nmodel: script:clerk.script.yaml\n"); // which is not served
  writeFileSync(join(pawl.dir, "clerk.script.yaml"), "replies: [{text: done}]\n");
  const queue = () => execFileSync(process.env.PAWL_BIN!, ["run", "clerk.yaml", "go", "--queue"], { cwd: pawl.dir, env: pawl.env(), encoding: "utf8" }).trim();
  const [first, second] = [queue(), queue()];
  await pawl.login(page);
  await expect(page.locator(rows, { hasText: first })).toContainText("queued, no. 1");
  await expect(page.locator(rows, { hasText: second })).toContainText("queued, no. 2");
});

test("numbers and headings fit their columns, and a long input leaves room for other rows", async ({ page, pawl }) => {
  await pawl.start("restock", { input: `Order ${"W".repeat(400)}` });
  await pawl.login(page);
  const overflow = (cells: string) => page.locator(cells).filter({ visible: true }).evaluateAll((all) => all.filter((c) => {
    const text = document.createRange();
    text.selectNodeContents(c);
    return text.getBoundingClientRect().right > c.getBoundingClientRect().right - parseFloat(getComputedStyle(c).paddingRight) + 0.5;
  }).map((c) => c.textContent));
  await expect(page.locator("table.list")).toBeVisible();
  expect(await overflow(".list th.num")).toEqual([]);
  await page.getByRole("link", { name: /^Waiting/ }).click();
  const input = page.locator(".list.waiting .input", { hasText: "WWWW" });
  expect((await input.boundingBox())!.height).toBeLessThan(100);
  await page.setViewportSize({ width: 375, height: 800 });
  expect((await input.boundingBox())!.height).toBeLessThan(100);
  await page.getByRole("link", { name: "Cost", exact: true }).click();
  await expect(page.locator(".stats tbody tr", { hasText: "restock" })).toContainText("$0.0");
  expect(await overflow(".stats :is(th, td).num")).toEqual([]);
});
