import { defineConfig } from "vite";

// The output is committed and served under a policy that allows no inline code,
// so nothing here may depend on the machine that builds it.
export default defineConfig({
  base: "/",
  build: {
    outDir: "../dist",
    emptyOutDir: true,
    target: ["chrome123", "firefox121", "safari17.5"],
    cssTarget: ["chrome123", "firefox121", "safari17.5"], // light-dark() as it is
    modulePreload: false,
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    sourcemap: false,
  },
});
