import { defineConfig } from "@playwright/test";

// Two workers, each with a browser and a server of its own: two cores are all there
// is. Pictures are made again when PAWL_PICTURES is set.
export default defineConfig({
  testDir: "e2e",
  timeout: 200_000, // what hangs never ends; a machine that has much else to do is slow
  expect: { timeout: 60_000 },
  workers: 2,
  forbidOnly: !!process.env.CI,
  reporter: [["list"]],
  outputDir: process.env.PAWL_E2E_OUT || "test-results",
  use: {
    browserName: "chromium",
    viewport: { width: 1440, height: 900 },
    locale: "en-US",
    timezoneId: "UTC",
    launchOptions: { executablePath: process.env.PAWL_CHROMIUM || "/usr/bin/chromium", args: ["--no-sandbox", "--force-color-profile=srgb"] },
    permissions: ["clipboard-read", "clipboard-write"],
    screenshot: "only-on-failure",
  },
});
