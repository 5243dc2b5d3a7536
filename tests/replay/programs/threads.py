"""threads.py - python with threads: a queue, locks, a pool, and who came when."""
import concurrent.futures
import hashlib
import os
import queue
import threading
import time

order, lock, jobs = [], threading.Lock(), queue.Queue()


def worker(name):
    while True:
        job = jobs.get()
        if job is None:
            return
        digest = hashlib.sha256(os.urandom(16) + bytes(job)).hexdigest()
        with lock:
            order.append((name, job, digest[:8], time.perf_counter_ns()))
        time.sleep(0.0001 * (job % 3))


threads = [threading.Thread(target=worker, args=(n,)) for n in range(4)]
for thread in threads:
    thread.start()
for i in range(200):
    jobs.put(i)
for _ in threads:
    jobs.put(None)
for thread in threads:
    thread.join()
print(order)
counter = 0


def bump(times):
    global counter
    for _ in range(times):
        counter += 1
    return threading.get_ident()


with concurrent.futures.ThreadPoolExecutor(3) as pool:
    print(sorted(pool.map(bump, [20000] * 3)), counter)
