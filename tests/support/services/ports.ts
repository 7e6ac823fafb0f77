// Free ports from below the ephemeral range. A released ephemeral port may become another connection's local port.
import { randomInt } from 'node:crypto';
import { createServer, type ListenOptions, type Server } from 'node:net';

const FIRST = 15_000;
const COUNT = 17_000;
let drawn = randomInt(COUNT);
const draw = () => FIRST + ((drawn += 1) % COUNT);

export async function freePort(host = '127.0.0.1'): Promise<number> {
  const [port] = await freePorts(1, host);
  if (port === undefined) throw new Error('no free port');
  return port;
}

/** Ports that nothing uses, and that no other process gets from this function while this one runs. */
export async function freePorts(count: number, host = '127.0.0.1'): Promise<number[]> {
  const ports: number[] = [];
  for (let tries = 0; ports.length < count; tries += 1) {
    if (tries > COUNT) throw new Error('no free ports');
    const port = draw();
    if ((await claim(port)) && (await isFree(port, host))) ports.push(port);
  }
  return ports;
}

/**
 * Keeps a port from all other processes, also those of another run: a name that only one process can hold, and that
 * the kernel frees with the process.
 */
async function claim(port: number): Promise<boolean> {
  const claimed = await listen({ path: `\0edgeloom-test-port-${port}` });
  claimed?.unref();
  return claimed !== null;
}

async function isFree(port: number, host: string): Promise<boolean> {
  const server = await listen({ port, host, exclusive: true });
  if (server) await new Promise((resolve) => server.close(resolve));
  return server !== null;
}

/** Null when the address is in use. */
const listen = (options: ListenOptions) =>
  new Promise<Server | null>((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(null) : reject(error),
    );
    server.listen(options, () => resolve(server));
  });
