import { defineConfig } from "vite";

// The output is committed and served under a policy that allows no inline code,
// so nothing here may depend on the machine that builds it.
export default defineConfig({
  base: "/",
  // Of marked only the lexer is used. The rest, which it sets up when it is loaded, is cut off.
  plugins: [{ name: "lexer", transform: (code, id) => (id.includes("marked.esm") ? code.replace(/var v=new ne;.*/s, "export{w as Lexer};") : null) }],
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
