"""py_multiprocessing.py - a pool by fork, shared values, queues, locks, and one spawned process."""
import multiprocessing as mp


def square(n):
    return n * n


def add(value, lock, n):
    for _ in range(n):
        with lock:
            value.value += 1


if __name__ == "__main__":
    ctx = mp.get_context("fork")
    with ctx.Pool(3) as pool:
        print(sum(pool.map(square, range(200))))
    value, lock = ctx.Value("i", 0, lock=False), ctx.Lock()
    ps = [ctx.Process(target=add, args=(value, lock, 200)) for _ in range(3)]
    for p in ps:
        p.start()
    for p in ps:
        p.join()
    print(value.value, [p.exitcode for p in ps])
    q = ctx.Queue()
    p = ctx.Process(target=lambda: q.put({"from": "child"}))
    p.start()
    print(q.get(), p.join())
    p = mp.get_context("spawn").Process(target=square, args=(3,))
    p.start()
    p.join()
    print("spawned", p.exitcode)
