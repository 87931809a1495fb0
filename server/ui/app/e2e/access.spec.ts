import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { expect, test } from "./server";

// What differs between light and dark is contrast; all else is looked at once.
async function axe(page: Page, what: string, scheme: string): Promise<void> {
  // There are no frames, so no look needs a page of its own; and of what is right nothing is told.
  const look = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ["violations"] });
  if (scheme === "dark") look.withRules(["color-contrast"]);
  else look.withTags(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]);
  const { violations } = await look.analyze();
  expect.soft(violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 160)).join(" | ")}`), `${what}, ${scheme}`).toEqual([]);
}

test("axe finds nothing on any page, light and dark", async ({ page, pawl, expected }) => {
  test.setTimeout(400_000);
  const both = async (what: string, schemes = ["dark", "light"] as ("dark" | "light")[]) => {
    for (const scheme of schemes) {
      await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
      await axe(page, what, scheme);
    }
  };
  const { run } = await pawl.start("restock");
  await page.goto(pawl.address);
  await expect(page.getByRole("heading", { name: "Log in" })).toBeVisible();
  await both("login");
  expected.push(/401/, /ERR_FAILED/); // of a wrong token, and of a server that is gone
  await page.goto(`${pawl.address}/#token=wrong`);
  await expect(page.getByRole("alert")).toHaveText("Unknown token.");
  await pawl.login(page);
  await expect(page.locator(".list tbody tr").first()).toBeVisible();
  await both("runs");
  await page.getByRole("link", { name: /^Waiting/ }).click();
  await expect(page.getByRole("heading", { name: "Waiting", exact: true })).toBeVisible();
  await expect(page.locator(".list tbody tr", { hasText: run })).toContainText("The weekend is coming."); // its input
  await expect(page.locator(".list tbody tr", { hasText: run }).locator("td").last()).toContainText("23 h 59 min"); // is left
  await both("waiting", ["light"]);
  await page.getByRole("link", { name: "Runs", exact: true }).click();
  const second = await pawl.start("desk");
  await expect(page.locator(".list tbody tr", { hasText: second.run })).toBeVisible();
  await page.getByLabel("Select all runs shown").check();
  await page.getByRole("button", { name: /^Cancel/ }).click();
  await both("many");
  await page.keyboard.press("Escape");
  await page.goto(`${pawl.address}/#/compare/${run}/${second.run}`);
  await expect(page.locator(".compare[data-loaded]")).toBeVisible();
  await both("compare");
  await page.goto(`${pawl.address}/#/stats`);
  await expect(page.locator(".stats tbody tr").first()).toBeVisible();
  await both("stats");
  await page.route("**/v1/stats*", (route) => route.abort());
  await page.reload();
  await expect(page.getByRole("alert")).toContainText("cannot be reached");
  await both("stats without a server");
  await page.goto(`${pawl.address}/#/decisions`);
  await expect(page.locator(".decided[data-loaded]")).toBeVisible();
  await both("decisions", ["light"]);
  await page.getByRole("link", { name: "Agents", exact: true }).click();
  await expect(page.locator(".agents tbody tr", { hasText: "restock" })).toContainText("count_stock");
  await both("agents", ["light"]);
  await page.goto(pawl.link());
  await expect(page.locator(".list")).toBeVisible();
  await page.keyboard.press("n");
  await expect(page.locator("dialog[open]")).toBeVisible();
  await both("start");
  await page.keyboard.press("Escape");
  const places = new Set<string>(); // of the tabs, which stay where they are
  for (const tab of ["conversation", "timeline", "requests", "charts", "stop", "causes", "explain", "agent", "log"]) {
    await page.goto(pawl.link(run, tab));
    await expect(page.locator(".run[data-loaded]")).toBeVisible();
    places.add(JSON.stringify(await page.locator(".tabs a").evaluateAll((all) => all.map((a) => a.getBoundingClientRect().x))));
    expect([...places]).toHaveLength(1);
    if (tab === "requests") await expect(page.locator(".difflines, .blocks").first()).toBeVisible();
    if (tab === "explain") await expect(page.locator(".decisions")).toBeVisible();
    if (tab === "timeline") { // no label of its axis is on another
      const labels = await page.locator(".scale .track > *").evaluateAll((all) => all.map((e) => e.getBoundingClientRect()).sort((a, b) => a.x - b.x).map((b) => [b.left, b.right]));
      for (let i = 1; i < labels.length; i++) expect(labels[i][0]).toBeGreaterThanOrEqual(labels[i - 1][1]);
    }
    if (tab === "timeline" || tab === "log") {
      await page.keyboard.press("End");
      await expect(page.locator("aside.detail")).toBeVisible();
    }
    await both(tab, ["stop", "agent", "log"].includes(tab) ? ["light"] : undefined); // made of the same parts
  }
  await page.goto(pawl.link(run));
  await page.keyboard.press("?");
  await both("keys");
  await page.keyboard.press("Escape");
  await page.keyboard.press("a");
  await page.getByRole("button", { name: "Edit the arguments" }).click();
  await page.locator("#args").fill("{}");
  await expect(page.locator(".sure")).toContainText("vendor");
  await both("approve");
  await page.keyboard.press("Escape");
  // A second call of a tool says how it differs from the one that was decided.
  const paid = await pawl.start("cashier");
  await pawl.api(`/v1/runs/${paid.run}/calls/${paid.pending[0].call}/approve?wait=true`, { by: "Ann" });
  await page.goto(pawl.link(paid.run));
  await expect(page.locator(".pending .basis")).toContainText(/Ann approved pay at .*eur: 12 → 80/);
});

test("by keys alone: find a run, read it, approve it, see what came of it", async ({ page, pawl }) => {
  const { run } = await pawl.start("restock", { labels: { by: "keys" } });
  await pawl.login(page);
  await expect(page.locator(".list tbody tr").first()).toBeVisible();
  await page.keyboard.press("/");
  await page.keyboard.type("by=keys");
  await page.keyboard.press("Escape"); // leaves the field
  await expect(page.locator(".list tbody tr")).toHaveCount(1); // no row is chosen while they change
  await page.keyboard.press("k");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(new RegExp(run));
  await expect(page.locator(".message").first()).toContainText("input");
  await page.keyboard.press("2");
  await expect(page.locator(".rows [role=option]").nth(6)).toBeVisible();
  await page.keyboard.press("Home");
  await page.keyboard.press("]");
  await page.keyboard.press("j");
  await expect(page.locator("#detail h2")).toHaveText("Think");
  await page.keyboard.press("e");
  await expect(page.locator(".rows [aria-selected=true]")).toContainText("count_stock");
  await page.keyboard.press("[");
  await page.keyboard.press("h"); // folds the iteration
  await expect(page.locator(".rows [aria-selected=true]")).toContainText("▸");
  await page.keyboard.press("l");
  await page.keyboard.press("Enter");
  await expect(page.locator("#detail")).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(page.locator("#detail")).toBeHidden();
  await page.keyboard.press("a");
  await expect(page.getByRole("dialog")).toBeFocused(); // no key changes anything
  await page.keyboard.press("Control+Enter");
  await expect(page.locator(".summary .status")).toHaveText("success");
  await page.keyboard.press("7");
  await expect(page.getByRole("heading", { name: "Step by step" })).toBeVisible();
  await page.keyboard.press("p");
  await expect(page.locator(".verdict")).toContainText("Identical");
  await page.keyboard.press("Escape");
  await page.keyboard.press("g");
  await page.keyboard.press("r");
  await expect(page.getByRole("heading", { name: "Runs", exact: true })).toBeVisible();
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog")).toContainText("previous, next iteration");
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toBeHidden();
});

test("a page opens at its top, and Back returns to the place", async ({ page, pawl }) => {
  await page.setViewportSize({ width: 375, height: 812 });
  await Promise.all(Array.from({ length: 25 }, () => pawl.api("/v1/runs", { agent: "picker" })));
  await pawl.login(page);
  const row = page.locator(".list tbody tr").nth(20).locator("a").first();
  await row.scrollIntoViewIfNeeded();
  const place = await page.evaluate(() => scrollY);
  expect(place).toBeGreaterThan(400);
  await row.click();
  await expect(page.locator(".run[data-loaded]")).toBeVisible();
  await expect.poll(() => page.evaluate(() => scrollY)).toBe(0);
  await page.goBack();
  await expect(page.locator(".list tbody tr").nth(20)).toBeVisible();
  await expect.poll(() => page.evaluate(() => scrollY)).toBe(place);
});

test("on a phone: nothing is wider than the page, and a call is denied", async ({ page, pawl, expected }) => {
  await page.setViewportSize({ width: 375, height: 812 });
  const { run } = await pawl.start("restock");
  await pawl.login(page);
  await expect(page.locator(".list tbody tr").first()).toBeInViewport();
  await expect(page.getByRole("link", { name: "Agents", exact: true })).toBeInViewport();
  const fits = async () => expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  await fits();
  await page.locator(".list tbody tr input").first().check();
  await fits();
  await page.goto(`${pawl.address}/#/compare/${run}/${run}`);
  await expect(page.locator(".compare[data-loaded]")).toBeVisible();
  await fits();
  await page.goto(`${pawl.address}/#/stats`);
  await expect(page.locator(".stats tbody tr").first()).toBeVisible();
  await fits();
  const columns = (row: string) => page.locator(`.stats ${row} > *`).evaluateAll((all) => all.flatMap((e, i) => (e.checkVisibility() ? [i] : [])));
  expect(await columns("tbody tr:first-child")).toEqual(await columns("thead tr"));
  for (const other of ["decisions", "budgets", "agents"]) {
    await page.goto(`${pawl.address}/#/${other}`);
    await expect(page.locator(".compare[data-loaded]")).toBeVisible();
    await fits();
  }
  for (const tab of ["conversation", "requests", "charts", "stop", "causes", "explain", "agent", "log", "decisions", "timeline"]) {
    await page.goto(pawl.link(run, tab));
    await expect(page.locator(".run[data-loaded]")).toBeVisible();
    await fits();
  }
  await page.locator(".rows [role=option]", { hasText: "store=harbour" }).click();
  await expect(page.locator("#detail")).toBeInViewport({ ratio: 0.9 });
  await page.getByRole("button", { name: "Close details" }).click();
  await page.getByRole("button", { name: "Deny…" }).click();
  await expect(page.getByLabel("Your name, for the log")).toHaveValue("Ann");
  await page.locator("#reason").fill("Bean & Co are nearer.");
  await page.getByRole("button", { name: "Deny", exact: true }).click();
  await expect(page.locator(".summary .status")).toHaveText("success");
  await expect(page.locator(".rows [role=option]", { hasText: "denied by Ann" })).toContainText("place_order");
  expect(await page.locator(".mark.who").first().evaluate((e) => e.scrollWidth <= e.clientWidth)).toBe(true); // it is not cut
  await fits();
  expected.push(/401/); // what is under way when the session ends
  await page.getByRole("button", { name: "Log out" }).click();
  await expect(page.getByRole("heading", { name: "Log in" })).toBeVisible();
});
