"""browser.py - a page in headless Chromium, driven through a pipe. SPDX-License-Identifier: MIT

The browser has an empty profile of its own and reads commands from descriptor 3; answers and events come from 4.
What it asks the network for is kept: `requests`. What the page's scripts fail with is kept, too: `errors`.
"""
import json
import os
import shutil
import subprocess
import tempfile
import time

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--remote-debugging-pipe"]
PATIENCE = 120  # seconds, for what does not come at all


def chromium():
    return shutil.which("chromium")


class Browser:
    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="profile.")
        self.serial, self.session, self.rest, self.requests, self.errors, self.answers = 0, None, b"", [], [], {}
        theirs_in, self.to = os.pipe()
        self.come, theirs_out = os.pipe()
        # The shell puts the pipes where the browser looks for them.
        self.process = subprocess.Popen(["sh", "-c", f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}', "sh", chromium(), *FLAGS,
                                         f"--user-data-dir={self.profile}", "about:blank"],
                                        pass_fds=(theirs_in, theirs_out), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.ask(domain + ".enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.to)
        self.process.terminate()
        self.process.wait()
        os.close(self.come)
        shutil.rmtree(self.profile, ignore_errors=True)

    def message(self):
        while b"\0" not in self.rest:
            more = os.read(self.come, 1 << 16)
            if not more:
                raise RuntimeError(f"the browser ended: {self.process.wait()}")
            self.rest += more
        first, _, self.rest = self.rest.partition(b"\0")
        return json.loads(first)

    def ask(self, method, **params):
        self.serial += 1
        packet = {"id": self.serial, "method": method, "params": params}
        if self.session:
            packet["sessionId"] = self.session
        os.write(self.to, json.dumps(packet).encode() + b"\0")
        while True:
            said = self.message()
            if said.get("id") == self.serial:
                assert "error" not in said, (method, said)
                return said["result"]
            if said.get("method") == "Network.requestWillBeSent":
                self.requests.append(said["params"]["request"]["url"])
            elif said.get("method") == "Runtime.exceptionThrown":
                self.errors.append(said["params"]["exceptionDetails"])
            elif said.get("method") == "Log.entryAdded":
                self.errors.append(said["params"]["entry"])

    def open(self, url):
        self.ask("Page.navigate", url=url)
        self.until(f"location.href === {json.dumps(url)} && document.readyState === 'complete'")

    def value(self, expression):
        result = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in result, (expression, result)
        return result["result"].get("value")

    def until(self, expression):
        end = time.monotonic() + PATIENCE
        while not self.value(expression):
            if time.monotonic() > end:
                raise RuntimeError(f"does not come true: {expression}")
            time.sleep(.02)

    def key(self, key):
        text = {"text": "\r"} if key == "Enter" else {"text": key} if len(key) == 1 else {}
        code = {"Enter": 13, "Escape": 27}.get(key, ord(key.upper()[0]))
        self.ask("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, **text)
        self.ask("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def screen(self, width, height, dark):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.ask("Emulation.setEmulatedMedia",
                 features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
