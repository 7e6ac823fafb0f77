// Free ports from below the ephemeral range. A released ephemeral port may become another connection's local port.
import { randomInt } from 'node:crypto';
import { createServer, type Server } from 'node:net';

const FIRST = 15_000;
const LAST = 32_000;
const SHARES = 32;
const SHARE = Math.floor((LAST - FIRST) / SHARES);
// Workers draw from different ranges, and no worker draws a port twice. Concurrent runs rarely share a range.
const { VITEST_POOL_ID: worker } = process.env;
const run = worker === undefined ? process.pid : process.ppid;
const share = FIRST + ((run + Number(worker ?? 0)) % SHARES) * SHARE;
let drawn = randomInt(SHARE);
const draw = () => share + ((drawn += 1) % SHARE);

export async function freePort(host = '127.0.0.1'): Promise<number> {
  const [port] = await freePorts(1, host);
  if (port === undefined) throw new Error('no free port');
  return port;
}

/** Holds all ports before it releases any, so that they differ. */
export async function freePorts(count: number, host = '127.0.0.1'): Promise<number[]> {
  const held = new Map<number, Server>();
  try {
    for (let tries = 0; held.size < count; tries += 1) {
      if (tries > count + 100) throw new Error('no free ports');
      const port = draw();
      const server = held.has(port) ? null : await listening(port, host);
      if (server) held.set(port, server);
    }
    return [...held.keys()];
  } finally {
    await Promise.all([...held.values()].map((server) => new Promise((resolve) => server.close(resolve))));
  }
}

/** Null when the port is in use. */
const listening = (port: number, host: string) =>
  new Promise<Server | null>((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(null) : reject(error),
    );
    server.listen({ port, host, exclusive: true }, () => resolve(server));
  });
