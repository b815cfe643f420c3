"""flaky: a relay that cuts and delays at random bytes; a process of its own.

  flaky.py LISTEN_PORT TARGET_PORT SEED CUT_EVERY DELAY_EVERY

One of CUT_EVERY pieces is passed on in part, then both ends are cut; one of DELAY_EVERY waits.
"""
import asyncio
import random
import sys

DELAY = 0.05


class Relay:
    def __init__(self, target, seed, cut_every, delay_every):
        self.target, self.dice = target, random.Random(seed)
        self.cut_every, self.delay_every = cut_every, delay_every

    async def serve(self, client, client_out):
        try:
            server, server_out = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            client_out.transport.abort()
            return
        ends = (client_out, server_out)
        await asyncio.gather(self.pump(client, server_out, ends),
                             self.pump(server, client_out, ends))

    async def pump(self, source, sink, ends):
        try:
            while data := await source.read(1 << 16):
                if self.dice.randrange(self.delay_every) == 0:
                    await asyncio.sleep(DELAY)
                if self.dice.randrange(self.cut_every) == 0:
                    sink.write(data[:self.dice.randrange(len(data))])
                    await sink.drain()
                    break
                sink.write(data)
                await sink.drain()
        except OSError:
            pass
        for end in ends:
            end.close()


async def main(port, target, seed, cut_every, delay_every):
    relay = Relay(target, seed, cut_every, delay_every)
    server = await asyncio.start_server(relay.serve, "127.0.0.1", port)
    print("ready", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(*map(int, sys.argv[1:])))
