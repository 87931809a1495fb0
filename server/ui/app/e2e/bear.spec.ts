import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, specs, test } from "./server";

// A run of a thousand iterations, made by the engine itself in the background of
// the other tests' first seconds.
test("of a thousand iterations what is in sight is painted, and it scrolls", async ({ page, pawl }) => {
  await promisify(execFile)(process.env.PAWL_BIN!, ["run", "survey.yaml", "--quiet"], { cwd: specs, env: pawl.env() }).catch((e) => {
    if (e.code !== 3) throw e; // exhausted, as it should be
  });
  const { runs } = await pawl.api("/v1/runs?agent=survey&status=exhausted");
  await pawl.login(page);
  await page.goto("about:blank");
  await page.goto(pawl.link(runs[0].run));
  await expect(page.locator(".run[data-loaded]")).toBeVisible();
  const paint = await page.evaluate(() => performance.getEntriesByName("pawl.timeline")[0].startTime);
  console.log(`first paint of the timeline after ${Math.round(paint)} ms`);
  // How long it takes is the machine's to say; that it does not grow with the run is held here.
  expect(Number(await page.locator(".run[data-entries]").getAttribute("data-entries"))).toBeGreaterThan(4000);
  expect(await page.locator(".rows [role=option]").count()).toBeLessThan(80); // only what is in sight

  // Frames while it scrolls from end to end in three seconds.
  const frames = await page.evaluate(async () => {
    const el = document.querySelector(".rows")!;
    const took: number[] = [];
    let last = performance.now();
    for (let i = 0; i <= 180; i++) {
      el.scrollTop = ((el.scrollHeight - el.clientHeight) * i) / 180;
      await new Promise((done) => requestAnimationFrame(done));
      const now = performance.now();
      took.push(now - last);
      last = now;
    }
    return took.sort((a, b) => a - b);
  });
  const median = frames[Math.floor(frames.length / 2)];
  const worst = frames[Math.floor(frames.length * 0.95)];
  console.log(`a frame takes ${median.toFixed(1)} ms, of twenty the longest ${worst.toFixed(1)} ms`);
  await expect(page.locator(".rows [role=option]").last()).toContainText("exhausted");
  await page.locator(".rows").focus();
  await page.keyboard.press("Home");
  await expect(page.locator(".rows [role=option]").first()).toContainText("start");
});
