import { expect, test } from "./server";

const row = (name: string) => `.rows [role=option]:has-text("${name}")`;

test("a fork changes the prompt and the model", async ({ page, pawl, expected }) => {
  expected.push(/422/); // a model that is not there
  const first = await pawl.start("desk");
  await pawl.login(page);
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
