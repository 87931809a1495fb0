import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "./server";

const status = ".summary .status";

test("the result of a client tool is handed in", async ({ page, pawl }) => {
  const r = await pawl.start("picker");
  await pawl.login(page);
  await expect(page.locator(".list")).toContainText("pick_seat");
  await page.goto(pawl.link(r.run));
  await expect(page.getByRole("heading", { name: "A call for you to run" })).toBeVisible();
  await page.getByRole("button", { name: "Submit a result…" }).click();
  const result = page.locator("#result");
  await expect(result).toBeFocused();
  await result.fill('{"seat": ');
  await expect(page.getByRole("button", { name: "Submit", exact: true })).toBeDisabled();
  await result.fill('{"seat": "14C"}');
  await page.getByRole("button", { name: "Submit", exact: true }).click();
  await expect(page.locator(status)).toHaveText("success");
  await expect(page.locator(".answer")).toContainText("Seat 14C is yours.");
  await expect(page.locator(".rows [role=option]", { hasText: "pick_seat" }).first()).toContainText("returned by Ann");
  const { entries } = await pawl.api(`/v1/runs/${r.run}/events`);
  expect(entries.find((e: any) => e.type === "client_tool.returned").data.result).toEqual({ seat: "14C" });
  const sources = ["source: Seat map: https://example.org/map", "source: a leaflet"];
  await expect(page.locator(".answer .sources li")).toHaveText(sources);
  await page.locator(".rows [role=option]:has-text('Seat 14C')").last().click();
  await expect(page.locator("#detail .sources li")).toHaveText(sources);
  await page.goto(pawl.link(r.run, "requests"));
  await page.getByRole("button", { name: "All of it" }).click();
  await expect(page.locator(".block", { hasText: "assistant cites Seat map: https://example.org/map" })).toContainText("row 14 is free");
});

test("a run is cancelled with a reason, and goes on when it is resumed", async ({ page, pawl }) => {
  const r = await pawl.start("desk");
  await pawl.login(page);
  await page.goto(pawl.link(r.run));
  await page.getByRole("button", { name: "Say…" }).click();
  await page.locator("#say").fill("By the window.");
  await page.getByRole("button", { name: "Say it" }).click();
  await expect(page.locator("dialog")).toHaveCount(0);
  await page.getByRole("button", { name: "Cancel…" }).click();
  await page.getByRole("button", { name: "Close" }).click(); // thought better of
  await expect(page.locator("dialog")).toHaveCount(0);
  await expect(page.locator(status)).toHaveText("waits for an answer");
  await page.getByRole("button", { name: "Cancel…" }).click();
  await page.locator("#why").fill("The lamp was sold.");
  await page.getByRole("button", { name: "Cancel the run" }).click();
  await expect(page.locator(status)).toHaveText("cancelled");
  const { entries } = await pawl.api(`/v1/runs/${r.run}/events`);
  expect(entries.find((e: any) => e.type === "cancel.requested").data.reason).toBe("The lamp was sold.");
  await expect(page.getByRole("button", { name: "Cancel…" })).toHaveCount(0);
  const asked = page.locator(".rows [role=option]", { hasText: "ask_human" });
  await expect(asked).toContainText("unanswered");
  await expect(asked.locator(".bar.open")).toHaveCount(0); // it waits no longer
  await page.getByRole("button", { name: "Resume…" }).click();
  await page.getByRole("button", { name: "Resume", exact: true }).click();
  await expect(page.locator(status)).toHaveText("waits for an answer");
  await expect(page.locator(".rows [role=option]", { hasText: "By the window." })).toHaveCount(1);
});

test("a run that met a limit goes on with a higher one, and a wrong one is said", async ({ page, pawl, expected }) => {
  expected.push(/422/);
  const r = await pawl.start("restock", { limits: { iterations: 2 } });
  expect(r.status).toBe("exhausted");
  await pawl.login(page);
  await page.goto(pawl.link(r.run));
  await page.getByRole("button", { name: "Resume…" }).click();
  const limits = page.locator("#limits");
  await expect(limits).toHaveValue(/iterations=/); // as the run advises
  await limits.fill("iterations=many");
  await page.getByRole("button", { name: "Resume", exact: true }).click();
  await expect(page.getByRole("alert")).toContainText("whole number");
  await limits.fill("iterations=+8, time=10m");
  await page.getByRole("button", { name: "Resume", exact: true }).click();
  await expect(page.getByRole("heading", { name: "Approve this call?" })).toBeVisible();
  const { entries } = await pawl.api(`/v1/runs/${r.run}/events`);
  expect(entries.find((e: any) => e.type === "run.extended").data.limits).toMatchObject({ iterations: 10 });
});

test("labels, agents, ids and words are found in older runs, too", async ({ page, pawl }) => {
  const old = await pawl.start("picker", { labels: { needle: "yes", team: "hay stack" } });
  for (let i = 0; i < 60; i += 10) await Promise.all(Array.from({ length: 10 }, () => pawl.api("/v1/runs", { agent: "picker" })));
  await pawl.login(page);
  const rows = page.locator(".list tbody tr");
  await expect(page.locator(".count")).toContainText("more below");
  await expect(page.locator(".list")).not.toContainText(old.run);
  const filter = page.getByLabel("Search", { exact: true });
  const asked = page.waitForRequest(/label=needle%3Dyes/);
  await filter.fill("needle=yes");
  await asked;
  await expect(rows).toHaveCount(1);
  await expect(rows.first()).toContainText(old.run);
  const quoted = page.waitForRequest((r) => new URL(r.url()).searchParams.getAll("label").join() === "team=hay stack,needle=yes");
  await filter.fill('team="hay stack" "needle=yes"');
  await quoted;
  await expect(rows).toHaveCount(1);
  await filter.fill('picker team="hay stack"');
  await expect(page.locator(".list")).toContainText(old.run);
  await filter.fill("needle=no");
  await expect(page.getByText("No run matches.")).toBeVisible();
  await filter.fill(old.run.slice(0, 24)); // as people paste it
  await expect(page.locator(".list")).toContainText(old.run);
  await page.keyboard.press("Escape");
});

test("a run reads as a conversation: Markdown is rendered, and HTML and addresses stay text", async ({ page, pawl }) => {
  const r = await pawl.start("minutes");
  await pawl.login(page);
  await page.locator(".list tbody tr", { hasText: "minutes" }).first().getByRole("link").first().click();
  const messages = page.locator(".message");
  await expect(messages.nth(0)).toContainText("Write the minutes.");
  await expect(messages.nth(1).locator("summary")).toHaveText([/Thinking/, /list_present.*ok/]);
  await messages.nth(1).locator("summary").last().click();
  await expect(messages.nth(1)).toContainText("Bo");
  const last = messages.nth(2);
  await expect(last.locator(".heading")).toHaveText("Minutes");
  await expect(last.locator("strong")).toHaveText("Ann");
  await expect(last.locator("td")).toHaveText(["lamp", "12"]);
  await expect(last.locator("ol > li")).toHaveText([/<img src="https:\/\/example.org\/a.png" onerror="alert\(1\)">/, "Prices (javascript:alert(1))"]);
  await expect(last.locator("a, img")).toHaveCount(0);
  await expect(page).toHaveURL(new RegExp(`${r.run}$`));
  // So does the answer above the tabs, which opens in full.
  const answer = page.locator(".answer");
  await expect(answer.locator("strong")).toHaveText("Ann");
  await expect(answer.locator("td").last()).not.toBeInViewport();
  await page.getByRole("button", { name: "Show the whole answer" }).click();
  await expect(answer.locator("td").last()).toBeInViewport();
  await expect(answer.locator("a, img")).toHaveCount(0);
});

test("a conversation says with which arguments a call was approved", async ({ page, pawl }) => {
  const { run, pending } = await pawl.start("cashier");
  await pawl.api(`/v1/runs/${run}/calls/${pending[0].call}/approve?wait=true`, { by: "Ann", args: { eur: 10 } });
  await pawl.login(page);
  await page.goto(pawl.link(run, "conversation"));
  await expect(page.locator(".conversation > .hint")).toHaveText("Ann approved pay with eur=10");
  await expect(page.locator(".message header").last()).toContainText("cashier");
  await expect(page.locator(".message .outcome-of")).toHaveText(["ok", "waits"]);
});

test("a text that nests without end is shown as text, and other pages go on", async ({ page, pawl }) => {
  writeFileSync(join(pawl.dir, "deep.yaml"), "name: deep\nmodel: script:deep.script.yaml\nlimits: {tokens: 5000000}\n");
  writeFileSync(join(pawl.dir, "deep.script.yaml"), JSON.stringify({ replies: [{ text: `${"> ".repeat(3000)}x\n\n${"- ".repeat(2000)}y` }] }));
  execFileSync(process.env.PAWL_BIN!, ["run", "deep.yaml", "go"], { cwd: pawl.dir, env: pawl.env() });
  await pawl.login(page);
  await page.locator(".list tbody tr", { hasText: "deep" }).first().getByRole("link").first().click();
  await expect(page.locator(".message").last()).toContainText("> > >");
  await expect(page.locator(".answer")).toContainText("> > >");
  await page.getByRole("link", { name: "Agents", exact: true }).click();
  await expect(page.getByRole("heading", { name: "Agents" })).toBeVisible();
});

test("the files of the input and of a call are saved under names that are only names", async ({ page, pawl }) => {
  const form = new FormData();
  form.append("run", new Blob([JSON.stringify({ agent: "scanner" })], { type: "application/json" }));
  form.append("file", new Blob(["Dear all."]), "letter.txt");
  const { run } = await (await fetch(`${pawl.address}/v1/runs?wait=true`, { method: "POST", headers: { Authorization: `Bearer ${pawl.token}` }, body: form })).json();
  await pawl.login(page);
  await page.goto(pawl.link(run));
  const saved = async (name: string) => {
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name, exact: true }).click()]);
    expect(download.suggestedFilename()).toBe(name);
    return readFileSync(await download.path(), "utf8");
  };
  await page.locator(".rows [role=option]", { hasText: "started" }).click();
  expect(await saved("letter.txt")).toBe("Dear all.");
  await page.locator(".rows [role=option]", { hasText: "papers__scan" }).last().click();
  await expect(page.locator(".files li")).toHaveText(["file.png image/png, 8 bytes", "_img src=x onerror=alert(1)_.html text/plain, 25 bytes", "page.pdf application/pdf, 9 bytes"]);
  expect(await saved("page.pdf")).toBe("%PDF-1.4\n");
  expect(await saved("_img src=x onerror=alert(1)_.html")).toBe("<script>alert(1)</script>");
  await expect(page).toHaveURL(new RegExp(run));
});
