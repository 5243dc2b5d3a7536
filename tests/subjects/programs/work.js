// work.js - node: compiled loops, regular expressions, promises, workers, a child process.
const { execFileSync } = require("child_process");
const { Worker } = require("worker_threads");
const crypto = require("crypto");
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
console.log(fib(24), [..."hello"].reverse().join(""), "a1b22".replace(/\d+/g, (d) => d * 2));
console.log(crypto.createHash("sha256").update("text").digest("hex"));
console.log(execFileSync("echo", ["child"]).toString().trim());
const w = new Worker("require('worker_threads').parentPort.postMessage(6 * 7)", { eval: true });
w.on("message", (m) => console.log("worker", m));
w.on("exit", (code) => console.log("exit", code));
