/* slice_page.js - filters, search and keys of a slice's page. SPDX-License-Identifier: MIT */
(function () {
    "use strict";
    const all = (what, where) => Array.from((where || document).querySelectorAll(what));
    const make = (tag, more, text) => Object.assign(document.createElement(tag), more || {}, text ? { textContent: text } : {});
    const nav = document.querySelector("nav");

    /* The list of lines has what the order of execution shows: one text for each line. */
    const rows = new Map(all("#lines li").map((li) => ["#" + li.id, li]));
    for (const a of all(".order a")) {
        const row = rows.get(a.getAttribute("href"));
        if (!row)
            continue;
        a.dataset.r = row.dataset.r;
        a.append(" " + row.querySelector("code").textContent);
        a.title = row.querySelector("a").textContent;
    }
    for (const button of all(".pos"))
        button.title = "copy this position";
    const marked = all("[data-r]");
    const parsed = marked.map((e) => e.dataset.r.split(" ").map((r) => r.split(":")));
    const search = make("input", { type: "search", id: "q", placeholder: "Search (/)" });
    search.setAttribute("aria-label", "Search");

    function boxes(id, values, name) {
        const set = make("fieldset", { id: id });
        for (const v of values) {
            const label = make("label");
            label.append(make("input", { type: "checkbox", checked: true, value: v }), " " + name + v);
            set.append(label);
        }
        nav.append(set);
        return () => new Set(all("input:checked", set).map((i) => i.value));
    }
    const column = (n) => [...new Set(parsed.flat().map((r) => r[n]))];
    const threads = boxes("threads", column(0).sort((a, b) => a - b), "T");
    const kinds = boxes("kinds", column(1).filter((k) => k !== "criterion"), "");
    const most = Math.max(0, ...column(2).map(Number));
    const near = make("label", { id: "near" }, "Distance ");
    const range = make("input", { type: "range", id: "distance", min: 0, max: most, value: most });
    near.append(range);
    nav.append(near, search);

    function apply() {
        const t = threads(), k = kinds(), d = Number(range.value), text = search.value.toLowerCase();
        range.title = "at most " + d;
        marked.forEach((e, i) => {
            const passes = parsed[i].some((r) => t.has(r[0]) && (r[1] === "criterion" || k.has(r[1])) && Number(r[2]) <= d);
            const found = text && e.textContent.toLowerCase().includes(text);
            const line = e.classList.contains("line");
            e.classList.toggle("off", !passes || (!line && Boolean(text) && !found));
            e.classList.toggle("hit", Boolean(line && passes && found));
            if (line && found)
                e.closest(".fn").open = true;
        });
    }
    nav.addEventListener("input", apply);

    const root = document.documentElement;
    const theme = make("button", { type: "button", id: "theme", title: "light or dark (d)" }, "Light / dark");
    theme.addEventListener("click", () => {
        const usual = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
        root.className = root.className ? "" : usual === "dark" ? "light" : "dark";
    });
    nav.append(theme, make("small", { id: "keys" }, "j k rows, / search, s o l e sections, c copy"));

    function reveal() {
        const e = location.hash && document.getElementById(location.hash.slice(1));
        for (let d = e && e.closest("details"); d; d = d.parentElement.closest("details"))
            d.open = true;
        if (e)
            e.scrollIntoView({ block: "center" });
    }
    addEventListener("hashchange", reveal);
    reveal();

    function copy(button) {
        const said = () => { button.classList.add("copied"); };
        if (navigator.clipboard)
            navigator.clipboard.writeText(button.textContent).then(said, said);
        getSelection().selectAllChildren(button);
    }
    document.addEventListener("click", (event) => {
        if (event.target.matches(".pos"))
            copy(event.target);
    });

    let at = null;
    function move(by) {
        const list = all("#findings li, #story li, #lines li").filter((e) => !e.classList.contains("off"));
        const next = list[Math.min(list.length - 1, Math.max(0, list.indexOf(at) + by))];
        if (at)
            at.classList.remove("at");
        at = next || null;
        if (at) {
            at.classList.add("at");
            at.scrollIntoView({ block: "nearest" });
        }
    }
    const sections = { s: "#story", o: "#source", e: "#order", l: "#lines" };
    document.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey)
            return;
        if (event.key === "Escape") {
            search.value = "";
            search.blur();
            apply();
        }
        if (event.target.matches("input") || (event.key === "Enter" && event.target.matches("a, button, summary")))
            return;
        if (event.key === "/") {
            event.preventDefault();
            search.focus();
        } else if (event.key === "j" || event.key === "k") {
            move(event.key === "j" ? 1 : -1);
        } else if (event.key === "Enter" && at) {
            location.hash = at.querySelector("a").getAttribute("href");
        } else if (event.key === "c" && at && at.querySelector(".pos")) {
            copy(at.querySelector(".pos"));
        } else if (event.key === "d") {
            theme.click();
        } else if (sections[event.key] && document.querySelector(sections[event.key])) {
            location.hash = sections[event.key];
        }
    });
})();
