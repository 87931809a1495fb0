import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "./server";

// The pictures of docs/inspector.md, made again when asked for.
const dir = resolve(import.meta.dirname, "../../../../docs/inspector");
test.skip(!process.env.PAWL_PICTURES, "pictures are made when PAWL_PICTURES is set");

test("pictures", async ({ page, pawl }) => {
  test.setTimeout(600_000);
  mkdirSync(dir, { recursive: true });
  const shot = (name: string, of: Pick<typeof page, "screenshot"> = page) => of.screenshot({ path: join(dir, `${name}.png`), animations: "disabled", caret: "hide" });
  const dialog = page.getByRole("dialog");
  const calm = async () => {
    await expect(page.locator(".run[data-loaded]")).toBeVisible();
    await page.mouse.move(0, 0);
    await page.waitForTimeout(500);
  };
  await page.setViewportSize({ width: 1200, height: 750 });
  await page.emulateMedia({ colorScheme: "light" });
  const asked = await pawl.start("restock", { labels: { week: "47" } });
  const done = await pawl.start("restock", { labels: { week: "46" } });
  await pawl.api(`/v1/runs/${done.run}/calls/${done.pending[0].call}/approve?wait=true`, { by: "Ann" });
  await pawl.start("desk");
  await pawl.start("restock", { labels: { week: "45" }, limits: { iterations: 2 } });
  await pawl.login(page);
  await page.waitForTimeout(800);
  await shot("runs");
  await page.getByLabel("Select all runs shown").check();
  await page.getByRole("button", { name: /^Approve/ }).click();
  await shot("bulk", dialog);
  await page.keyboard.press("Escape");
  await page.goto(`${pawl.address}/#/compare/${done.run}/${asked.run}`);
  await expect(page.locator(".compare[data-loaded]")).toBeVisible();
  await shot("compare");
  await page.goto(`${pawl.address}/#/stats?time=24h`);
  await expect(page.locator(".stats[data-loaded]")).toBeVisible();
  await shot("stats");
  await page.goto(`${pawl.address}/#/decisions`);
  await expect(page.locator(".decided[data-loaded]")).toBeVisible();
  await shot("decisions");
  await page.goto(pawl.link(asked.run));
  await calm();
  await shot("approve");
  await page.goto(pawl.link(done.run));
  await calm();
  await page.locator(".rows [role=option]", { hasText: "prices" }).first().locator(".twist").click();
  await page.locator(".rows [role=option]", { hasText: "2 attempts" }).click();
  await page.mouse.move(0, 0);
  await page.waitForTimeout(300);
  await shot("timeline");
  await page.emulateMedia({ colorScheme: "dark" });
  await page.waitForTimeout(200);
  await page.keyboard.press("Escape");
  await page.keyboard.press("3");
  await expect(page.locator(".difflines")).toBeVisible();
  await shot("request-dark");
  await page.emulateMedia({ colorScheme: "light" });
  for (const tab of ["charts", "stop", "causes", "explain"]) {
    await page.goto(pawl.link(done.run, tab));
    await calm();
    await shot(tab);
  }
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(pawl.link(asked.run));
  await calm();
  await shot("phone");
  // The command holds the pictures. 20 colours without loss take half of what WebP takes with loss, and are crisper.
  for (const png of readdirSync(dir).filter((f) => f.endsWith(".png"))) {
    execFileSync("pngquant", ["20", "--nofs", "--speed", "1", "--strip", "--ext", ".png", "--force", png], { cwd: dir });
    execFileSync("cwebp", ["-quiet", "-lossless", "-z", "9", png, "-o", png.replace(".png", ".webp")], { cwd: dir });
    rmSync(join(dir, png));
  }
});
