// Searches the documentation. The index is a script that calls searchIndex, and is
// loaded when the reader first uses the search.
"use strict";
(() => {
  const root = document.currentScript.dataset.root;
  const box = document.querySelector("search");
  const input = box.querySelector("input");
  const list = box.querySelector("div");
  let entries = null;

  const load = () => {
    if (entries) return;
    entries = [];
    const script = document.createElement("script");
    script.src = root + "search-index.js";
    document.head.append(script);
  };
  window.searchIndex = (index) => {
    entries = index.map((e) => ({ ...e, lower: (e.title + " " + (e.heading || "") + " " + e.text).toLowerCase() }));
    show();
  };

  const count = (text, word) => Math.min(text.split(word).length - 1, 5);
  const score = (e, words) => {
    let sum = 0;
    for (const w of words) {
      if (!e.lower.includes(w)) return 0;
      sum += 20 * count((e.heading || e.title).toLowerCase(), w) + 10 * count(e.title.toLowerCase(), w) + count(e.lower, w);
    }
    return sum;
  };

  // marked returns nodes of the text in which the words are marked.
  const marked = (text, words) => {
    const pattern = new RegExp("(" + words.map((w) => w.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|") + ")", "gi");
    return text.split(pattern).map((part, i) => {
      if (i % 2 === 0) return document.createTextNode(part);
      const mark = document.createElement("mark");
      mark.textContent = part;
      return mark;
    });
  };

  const show = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    list.replaceChildren();
    if (!words.length || !entries) return;
    const found = entries.map((e) => [score(e, words), e]).filter(([n]) => n > 0).sort((a, b) => b[0] - a[0]).slice(0, 20);
    for (const [, e] of found) {
      const a = document.createElement("a");
      a.href = root + e.path;
      a.setAttribute("role", "option");
      a.append(...marked(e.heading ? e.title + " › " + e.heading : e.title, words));
      const at = Math.max(0, e.text.toLowerCase().indexOf(words[0]) - 60);
      const excerpt = document.createElement("small");
      excerpt.append(...marked((at ? "…" : "") + e.text.slice(at, at + 160) + "…", words));
      a.append(excerpt);
      list.append(a);
    }
    if (!found.length) {
      const p = document.createElement("p");
      p.textContent = "Nothing found.";
      list.append(p);
    }
  };

  const step = (by) => {
    const links = [input, ...list.querySelectorAll("a")];
    links[(links.indexOf(document.activeElement) + by + links.length) % links.length].focus();
  };
  input.addEventListener("focus", load);
  input.addEventListener("input", show);
  box.addEventListener("keydown", (e) => {
    if (e.key === "ArrowDown" || e.key === "ArrowUp") {
      e.preventDefault();
      step(e.key === "ArrowDown" ? 1 : -1);
    } else if (e.key === "Escape") {
      input.value = "";
      list.replaceChildren();
      input.blur();
    } else if (e.key === "Enter" && e.target === input) {
      list.querySelector("a")?.click();
    }
  });
  document.addEventListener("keydown", (e) => {
    if (e.key === "/" && e.target !== input) {
      e.preventDefault();
      input.focus();
    }
  });
  document.addEventListener("click", (e) => {
    if (!box.contains(e.target) || e.target.closest("search a")) list.replaceChildren();
  });
  // The contents fold on a narrow screen only; on a wide one they scroll to the page.
  if (matchMedia("(max-width: 48rem)").matches) document.querySelector("nav details").open = false;
  else document.querySelector("[aria-current]")?.scrollIntoView({ block: "center" });
  box.hidden = false;
})();
