// A TCP proxy that can be cut and restored, to take a shared database away from one client.
import { connect, createServer, type Socket } from 'node:net';
import { once } from 'node:events';
import { freePort } from '../services/ports.ts';

export interface TcpProxy {
  /** The service's URL through the proxy. */
  url: string;
  cut: () => Promise<void>;
  restore: () => Promise<void>;
  close: () => Promise<void>;
}

export async function startTcpProxy(serviceUrl: string): Promise<TcpProxy> {
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
  // The port must be outside the ephemeral range, or another connection could take it while the proxy is cut.
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
  return { url: url.href, cut, restore: () => listen(port), close: async () => (server.listening ? cut() : undefined) };
}
