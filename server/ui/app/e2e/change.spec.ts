import { expect, test } from "./server";

const row = (name: string) => `.rows [role=option]:has-text("${name}")`;

test("edit a result and fork: the log names the person, no tool runs, and both runs are compared", async ({ page, pawl }) => {
  const first = await pawl.start("restock", { labels: { edited: "yes" } });
  await pawl.login(page);
  await page.goto(pawl.link(first.run));
  await page.locator(row("count_stock")).first().click();
  await page.getByRole("button", { name: "Edit and fork" }).click();
  await expect(page.getByLabel(/Edit the result of/)).toBeChecked();
  await page.locator("#edit-result").fill("{");
  await expect(page.getByRole("button", { name: "Fork with this edit" })).toBeDisabled();
  await page.locator("#edit-result").fill('{"kilos": 99}');
  await page.getByRole("button", { name: "Fork with this edit" }).click();
  await expect(page).not.toHaveURL(new RegExp(first.run));
  await page.getByRole("link", { name: "Timeline" }).click();
  await expect(page.locator(".summary .status")).toHaveText("waits for approval");
  await expect(page.locator(row("count_stock")).first()).toContainText("edited by");
  const run = decodeURIComponent(/runs\/([^/]+)/.exec(page.url())![1]);
  const { entries } = await pawl.api(`/v1/runs/${run}/events`);
  const at = entries.findIndex((e: any) => e.type === "run.forked");
  expect(entries[at].data.edited).toBe(true);
  expect(entries[at + 1]).toMatchObject({ type: "tool.settled", data: { happened: true, result: { kilos: 99 } } });
  await page.getByRole("link", { name: "Compare" }).click();
  await expect(page.locator(".compare thead")).toContainText(first.run);
  await expect(page.locator(".compare .sides > div").last()).toContainText('"kilos": 99');
  await page.goto(pawl.link(run, "decisions"));
  await expect(page.locator(".decided tbody tr")).toHaveCount(2);
  await expect(page.locator(".decided tbody tr").first()).toContainText("edited count_stock");
});

test("edit a reply, change the prompt and the model", async ({ page, pawl, expected }) => {
  expected.push(/422/); // a model that is not there
  const first = await pawl.start("desk");
  await pawl.login(page);
  await page.goto(pawl.link(first.run));
  await page.locator(row("First I look")).last().click();
  await page.getByRole("button", { name: "Edit and fork" }).click();
  await page.locator("#edit-text").fill("I know it without asking.");
  await page.locator("#edit-calls").fill("[]");
  await page.getByRole("button", { name: "Fork with this edit" }).click();
  await expect(page.locator(".summary .status")).toHaveText("success");
  await expect(page.locator(".summary .answer")).toContainText("I know it without asking.");

  await page.goto(pawl.link(first.run));
  await page.locator(row("First I look")).last().waitFor(); // a key before that is lost
  await page.keyboard.press("F");
  await page.getByLabel("At entry").fill("1");
  await page.getByText("Change the agent").click();
  await page.getByLabel("Prompt").fill("You sell lamps and nothing else.");
  await page.getByLabel("Model", { exact: true }).fill("script:/etc/passwd");
  await page.getByRole("button", { name: "Fork", exact: true }).click();
  await expect(page.getByRole("alert")).toContainText("PROVIDER/NAME");
  const { agents } = await pawl.api("/v1/agents");
  const other = agents.find((a: any) => a.name === "sorter").model;
  await page.getByLabel("Model", { exact: true }).fill(other);
  await page.getByRole("button", { name: "Fork", exact: true }).click();
  await expect(page).not.toHaveURL(new RegExp(first.run));
  await expect(page.locator(".summary .facts")).toContainText(other);
  await page.getByRole("link", { name: "Compare" }).click();
  await expect(page.getByRole("heading", { name: "The agent differs" })).toBeVisible();
  await expect(page.locator(".compare ins", { hasText: "You sell lamps" })).toBeVisible();
});

test("call a tool by hand: the form, its gate, its log, and who did it", async ({ page, pawl }) => {
  await pawl.login(page);
  await page.getByRole("button", { name: "Call a tool…" }).click();
  await page.getByLabel("Agent", { exact: true }).last().selectOption("restock");
  await page.getByLabel("Tool", { exact: true }).selectOption("place_order");
  const call = page.getByRole("button", { name: "Call", exact: true });
  await expect(call).toBeDisabled();
  await page.locator("#arg-article").fill("tea");
  await page.locator("#arg-kilos").fill("0");
  await page.locator("#arg-vendor").fill("V-1");
  await expect(call).toBeEnabled();
  await page.getByRole("button", { name: "Write them as JSON" }).click();
  await expect(page.locator("#call-json")).toHaveValue(/"kilos": 0/);
  await page.locator("#call-json").fill('{"article": "tea", "kilos": 9007199254740993, "vendor": "V-1"}'); // no JavaScript number
  await call.click();
  await expect(page.locator(".summary .status")).toHaveText("waits for approval");
  await expect(page.locator(".pending .tree")).toContainText("9007199254740993");
  await page.keyboard.press("a");
  await expect(page.locator("dialog .tree")).toContainText("9007199254740993");
  await page.getByRole("button", { name: "Edit the arguments" }).click();
  await expect(page.locator("#args")).toHaveValue(/9007199254740993/);
  await page.getByRole("button", { name: "Approve", exact: true }).click();
  await expect(page.locator(".summary .status")).toHaveText("success");
  await page.keyboard.press("0");
  await expect(page.locator(".decided tbody tr")).toHaveCount(2);
  await page.goto(`${pawl.address}/#/decisions`);
  await page.getByLabel("Kind").selectOption({ label: "called by hand" });
  await expect(page).toHaveURL(/what=call/);
  await expect(page.locator(".decided tbody tr").first()).toContainText("place_order");
  await page.getByLabel("By", { exact: true }).fill("nobody at all");
  await page.getByRole("button", { name: "Show" }).click();
  await expect(page.locator(".empty")).toBeVisible();
});
