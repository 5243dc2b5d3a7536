"""py_asyncio.py - an event loop with sockets, subprocesses, timers and tasks."""
import asyncio


async def serve(reader, writer):
    writer.write((await reader.readline()).upper())
    await writer.drain()
    writer.close()


async def ask(port, n):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"question %d\n" % n)
    answer = await reader.readline()
    writer.close()
    return answer


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    print(await asyncio.gather(*(ask(port, n) for n in range(10))))
    child = await asyncio.create_subprocess_exec("echo", "child", stdout=asyncio.subprocess.PIPE)
    print(await child.communicate(), child.returncode)
    try:
        await asyncio.wait_for(asyncio.sleep(30), 0.05)
    except asyncio.TimeoutError:
        print("time-out")
    server.close()


asyncio.run(main())
