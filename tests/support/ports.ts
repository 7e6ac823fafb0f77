// Ports for what a test starts itself. The system hands them out in turn from its range, so that files running side by
// side get different ones; between asking and listening another program could still take one, which has not been seen.
import { once } from 'node:events';
import { createServer } from 'node:net';

export async function freePort(host = '127.0.0.1'): Promise<number> {
  const [port] = await freePorts(1, host);
  if (port === undefined) throw new Error('no free port');
  return port;
}

/** Different ones: all are held before any is let go. */
export async function freePorts(count: number, host = '127.0.0.1'): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  try {
    return await Promise.all(
      servers.map(async (server) => {
        server.listen(0, host);
        await once(server, 'listening');
        const address = server.address();
        if (address === null || typeof address === 'string') throw new Error('a TCP server without a port');
        return address.port;
      }),
    );
  } finally {
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  }
}
