#!/usr/bin/env python3
"""page_test.py --drdebug DRDEBUG --work DIR - the page of `drdebug slice --html`, in headless Chromium.

SPDX-License-Identifier: MIT

Links lead to what can be seen, filters and search leave what they should, keys work, nothing is cut on a phone's width,
text can be read in light and dark, and the page asks for nothing. Sources and directory have names that are HTML: they
are shown, and do nothing. Without Chromium this is skipped.
"""
import argparse
import os
import shutil
import subprocess
import sys
import urllib.parse

import browser

EVIL = '"><img src=x onerror=owned=1><script>owned=1<'
SOURCE = r"""#include <assert.h>
#include <pthread.h>
int total; /* </code></details><script>owned=1</script><img src="http://127.0.0.1:9/x" onerror="owned=1"> */
static int wrong(int n)
{
    return n * 3; /* ROOT CAUSE &amp;<b onclick="owned=1"> */
}
static void *work(void *arg)
{
    for (int i = 0; i < 40; i++)
        if (arg)
            total += wrong(i);
    return arg;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, work, &t);
    pthread_join(t, 0);
    assert(total == 1560); /* '"<!-- */
    return 0;
}
"""

# What is shown of a list, and its threads, kinds and distances.
SHOWN = """Array.from(document.querySelectorAll("%s [data-r]")).filter((e) => e.checkVisibility()).map((e) => e.dataset.r)"""
# The least contrast of what is written with what is behind it, and where.
CONTRAST = """(() => {
    const part = (c) => { c /= 255; return c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4; };
    const numbers = (text) => text.match(/[\\d.]+/g).map(Number);
    const light = (c) => .2126 * part(c[0]) + .7152 * part(c[1]) + .0722 * part(c[2]);
    const behind = (e) => { const c = numbers(getComputedStyle(e).backgroundColor); return c[3] === 0 ? behind(e.parentElement) : c; };
    let least = [99, ""];
    for (const e of document.querySelectorAll("body *")) {
        if (!e.checkVisibility() || !Array.from(e.childNodes).some((n) => n.nodeType === 3 && n.data.trim()))
            continue;
        const [a, b] = [light(numbers(getComputedStyle(e).color)), light(behind(e))].sort((x, y) => y - x);
        if ((a + .05) / (b + .05) < least[0])
            least = [(a + .05) / (b + .05), e.outerHTML.slice(0, 100)];
    }
    return least;
})()"""


class Test:
    def __init__(self, drdebug):
        self.drdebug, self.checks, self.failures = drdebug, 0, []

    def check(self, what, have, want=True):
        self.checks += 1
        if have != want:
            self.failures.append(f"{what}: {have!r}, expected {want!r}")

    def page(self, name, *words):
        subprocess.run([self.drdebug, "slice", "run.pinball", *words, "--html", name], check=True, timeout=120,
                       stdout=subprocess.DEVNULL)
        return "file://" + urllib.parse.quote(os.path.abspath(name))


def record(test):
    os.mkdir(EVIL)
    with open(EVIL + "/s.c", "w") as f:
        f.write(SOURCE)
    subprocess.run(["gcc", "-g", "-w", "-O0", "-pthread", "-static", "-o", EVIL + "/p<b>", EVIL + "/s.c"], check=True)
    subprocess.run([test.drdebug, "record", "-q", "-o", "run.pinball", "--", "./" + EVIL + "/p<b>"], timeout=120,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def links(test, b):
    test.check("links without an end", b.value("""Array.from(document.querySelectorAll("a")).map((a) => a.getAttribute("href"))
        .filter((h) => h[0] !== "#" || !document.getElementById(h.slice(1)))"""), [])
    test.check("ids that are there twice", b.value("""(() => { const ids = Array.from(document.querySelectorAll("[id]"), (e) => e.id);
        return ids.length - new Set(ids).size; })()"""), 0)


def follow(test, b):
    """Each link of the story opens what it leads to."""
    for href in b.value("""Array.from(document.querySelectorAll("#story li > div > a[href^='#m']"), (a) => a.getAttribute("href"))"""):
        b.value("document.querySelectorAll('.fn').forEach((f) => { f.open = false; })")
        b.value("location.hash = ''")
        b.value(f"""document.querySelector("#story a[href='{href}']").click()""")
        b.until(f"document.querySelector('{href}').checkVisibility()")
        b.until(f"(() => {{ const r = document.querySelector('{href}').getBoundingClientRect();"
                " return r.top >= 0 && r.bottom <= innerHeight; })()")
        test.checks += 1


def filters(test, b):
    everything = b.value(SHOWN % "#lines")
    def toggled(box):
        b.value(f"document.querySelector('{box}').click()")
        shown = {where: b.value(SHOWN % where) for where in ("#story", "#lines", "#order")}
        b.value(f"document.querySelector('{box}').click()")
        return shown
    test.check("threads", {r.split(":")[0] for r in everything}, {"1", "2"})
    for where, shown in toggled("#threads input[value=\"2\"]").items():
        test.check(f"{where} without T2", {r.split(":")[0] for r in shown}, {"1"})
    for where, shown in toggled("#kinds input[value=control]").items():
        test.check(f"{where} without control", "control" in {r.split(":")[1] for r in shown}, False)
    test.check("all again", b.value(SHOWN % "#lines"), everything)
    for near in (0, 2):
        b.value(f"""(() => {{ const r = document.querySelector("#distance"); r.value = {near};
            r.dispatchEvent(new Event("input", {{ bubbles: true }})); }})()""")
        test.check(f"at most {near} away", b.value(SHOWN % "#lines"), [r for r in everything if int(r.split(":")[2]) <= near])
    b.value("""(() => { const r = document.querySelector("#distance"); r.value = r.max;
        r.dispatchEvent(new Event("input", { bubbles: true })); })()""")
    test.check("all again, however far", b.value(SHOWN % "#lines"), everything)


def keys(test, b):
    everything = len(b.value(SHOWN % "#lines"))
    b.key("/")
    test.check("/ goes to the search", b.value("document.activeElement.id"), "q")
    for letter in "root":
        b.key(letter)
    found = b.value("""Array.from(document.querySelectorAll("#lines li")).filter((e) => e.checkVisibility()).map((e) => e.textContent)""")
    test.check("what is found", 0 < len(found) < everything and all("ROOT" in text for text in found))
    test.check("in the source", b.value("document.querySelectorAll('.hit').length"), 1)
    b.key("Escape")
    test.check("Escape ends it", len(b.value(SHOWN % "#lines")), everything)
    b.key("j")
    b.key("j")
    b.key("k")
    b.key("j")
    test.check("j and k", b.value("document.querySelector('.at').id"), "s2")
    b.key("Enter")
    b.until("location.hash === document.querySelector('#s2 a').getAttribute('href')")
    b.key("c")
    test.check("c takes the position", b.value("getSelection().toString()"), b.value("document.querySelector('#s2 .pos').textContent"))
    for key, section in (("e", "#order"), ("l", "#lines"), ("o", "#source"), ("s", "#story")):
        b.key(key)
        b.until(f"location.hash === '{section}'")


def looks(test, b):
    for width, height in ((1280, 800), (360, 740)):
        for dark in (False, True):
            b.screen(width, height, dark)
            ground = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0] < 128"
            test.check(f"{width}: dark", b.value(ground), dark)
            b.key("d")
            test.check(f"{width}: d changes it", b.value(ground), not dark)
            b.key("d")
            ratio, where = b.value(CONTRAST)
            test.check(f"{width}, dark {dark}: contrast {ratio:.2f} of {where}", ratio >= 4.5)
            test.check(f"{width}: nothing is cut", b.value("document.documentElement.scrollWidth - document.documentElement.clientWidth"), 0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--drdebug", required=True)
    parser.add_argument("--work", required=True)
    args = parser.parse_args()
    if not browser.chromium():
        print("skipped: there is no chromium")
        sys.exit(77)
    shutil.rmtree(args.work, ignore_errors=True)
    os.makedirs(args.work)
    os.chdir(args.work)
    test = Test(args.drdebug)
    record(test)
    pages = [test.page("back.html", "--at", "failure"), test.page("forward.html", "--forward", "total at work"),
             test.page("chop.html", "total at work", "--to", "failure")]
    with browser.Browser() as b:
        b.screen(1280, 800, False)
        for page in reversed(pages):
            b.open(page)
            links(test, b)
        test.check("title", b.value("document.title").startswith("SIGABRT in p<b>, T1 s.c:"))
        for step in (follow, filters, keys, looks):
            step(test, b)
        test.check("the command", b.value("document.querySelector('footer code').textContent"),
                   "drdebug slice --at failure --html back.html run.pinball")
        test.check("an ordinary slice is small", os.path.getsize("back.html") < 300_000)
        test.check("names are shown", b.value(f"document.body.textContent.includes({EVIL!r})"))
        test.check("requests", [r for r in b.requests if r not in pages and r != "about:blank"], [])
        test.check("errors", b.errors, [])
        b.value("""document.body.insertAdjacentHTML("beforeend", "<b onclick='owned=1' id='bait'>x</b>")""")
        b.value("document.querySelector('#bait').click()")
        test.check("no other script runs", b.value("typeof owned"), "undefined")
    for failure in test.failures:
        print("FAILED:", failure)
    print(f"{test.checks} checks, {len(test.failures)} failures")
    sys.exit(bool(test.failures))


if __name__ == "__main__":
    main()
