// A way to a service that can be cut and mended: what a test does to a database that other tests share.
import { connect, createServer, type Socket } from 'node:net';
import { once } from 'node:events';
import { freePort } from './ports.ts';

export interface Cut {
  /** The service's URL by this way. */
  url: string;
  cut: () => Promise<void>;
  mend: () => Promise<void>;
  close: () => Promise<void>;
}

export async function cuttable(serviceUrl: string): Promise<Cut> {
  const target = new URL(serviceUrl);
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket
        .on('error', () => other.destroy())
        .on('close', () => {
          sockets.delete(socket);
          other.destroy();
        });
      socket.pipe(other);
    }
  });
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  // One that the system does not hand out: whoever is cut must find it again, and no connection made meanwhile may begin there.
  const port = await freePort();
  await listen(port);
  const cut = async () => {
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  const url = new URL(serviceUrl);
  url.host = `127.0.0.1:${port}`;
  return { url: url.href, cut, mend: () => listen(port), close: async () => (server.listening ? cut() : undefined) };
}
