// workers.js - worker threads with heaps of their own, the thread pool, timers, compiled hot loops.
const { Worker, isMainThread, parentPort } = require('worker_threads');
const crypto = require('crypto');

function hot(n) {
    let s = 0;
    for (let i = 0; i < n; i++)
        s = (s * 31 + i) | 0;
    return s;
}

function litter() {
    const kept = [];
    for (let i = 0; i < 100000; i++)
        kept.push({ i, text: 'x' + i });
    return kept.length;
}

function main() {
    const answers = [];
    let left = 3;
    for (let i = 0; i < 3; i++) {
        const worker = new Worker(__filename);
        worker.on('message', m => answers.push(m));
        worker.on('exit', () => {
            if (--left)
                return;
            console.log(answers, hot(3e6));
            crypto.pbkdf2('words', 'salt', 2000, 16, 'sha256', (e, key) => {
                console.log(key.toString('hex'));
                setTimeout(() => console.log('end'), 10);
            });
        });
    }
}

if (isMainThread)
    main();
else
    parentPort.postMessage(litter());
