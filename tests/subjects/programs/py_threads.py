"""py_threads.py - threads, locks, queues, a pool, timers and signals in the interpreter."""
import concurrent.futures
import queue
import signal
import threading
import time

q, total, lock = queue.Queue(), 0, threading.Lock()


def consumer():
    global total
    while (item := q.get()) is not None:
        with lock:
            total += item


workers = [threading.Thread(target=consumer) for _ in range(8)]
for w in workers:
    w.start()
for i in range(5000):
    q.put(i)
for _ in workers:
    q.put(None)
for w in workers:
    w.join()
print("total", total)
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    print(sum(pool.map(lambda n: sum(range(n)), range(300))))
event = threading.Event()
threading.Timer(0.02, event.set).start()
print("event", event.wait(10))
hits = []
signal.signal(signal.SIGALRM, lambda s, f: hits.append(s))
signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)
while len(hits) < 5:
    time.sleep(0.001)
signal.setitimer(signal.ITIMER_REAL, 0)
print("alarms", hits[:5])
local = threading.local()
local.x = 1
t = threading.Thread(target=lambda: print("other thread has x:", hasattr(local, "x")))
t.start()
t.join()
