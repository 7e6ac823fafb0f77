// The sockets of an nginx, and whether they are free on this machine.
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { reason } from '../log.ts';

export interface Socket {
  protocol: 'tcp' | 'udp';
  /** IPv6 in brackets. */
  address: string;
  port: number;
}

export const nameOf = ({ protocol, address, port }: Socket) => `${address}:${port}${protocol === 'udp' ? '/udp' : ''}`;

/** Parses a socket's name. */
export function socketOf(name: string): Pick<Socket, 'protocol' | 'port'> {
  const [, port, udp] = /:(\d+)(\/udp)?$/.exec(name) ?? [];
  return { protocol: udp === undefined ? 'tcp' : 'udp', port: Number(port ?? 0) };
}

export interface Listener extends Socket {
  proxyProtocol: boolean;
}

/** The sockets of visitors that a rendered configuration opens. */
export function listenersIn(text: string): Listener[] {
  return [...text.matchAll(/^ *listen "?(\S+?):(\d+)"?([^;]*);/gm)].map(([, address = '', port, flags = '']) => {
    const words = flags.split(' ');
    const protocol = words.includes('quic') ? 'udp' : 'tcp';
    return { protocol, address, port: Number(port), proxyProtocol: words.includes('proxy_protocol') };
  });
}

/** After a reload nginx takes a tenth of a second to make old workers close their sockets. */
const MAX_TRIES = 6;
const RETRY_MS = 150;

/**
 * Throws the system's reason when another program holds the socket for longer than a draining worker would.
 * nginx would retry for seconds before it refuses.
 */
export async function assertFree(socket: Socket): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await (socket.protocol === 'tcp' ? listen(socket) : bind(socket));
    } catch (error) {
      const why = error instanceof Error && 'code' in error ? String(error.code) : reason(error);
      if (why !== 'EADDRINUSE' || tries === MAX_TRIES)
        throw new Error(`${nameOf(socket)} cannot be opened: ${why}`, { cause: error });
    }
    await setTimeout(RETRY_MS);
  }
}

const hostOf = ({ address }: Socket) => address.replaceAll(/[[\]]/g, '');

function listen(socket: Socket): Promise<void> {
  const host = hostOf(socket);
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port: socket.port, ipv6Only: host.includes(':'), exclusive: true }, () =>
      server.close(() => resolve()),
    );
  });
}

function bind(socket: Socket): Promise<void> {
  const address = hostOf(socket);
  const isV6 = address.includes(':');
  const udp = createSocket({ type: isV6 ? 'udp6' : 'udp4', ipv6Only: isV6 });
  return new Promise((resolve, reject) => {
    udp.once('error', reject);
    udp.bind({ address, port: socket.port, exclusive: true }, () => udp.close(() => resolve()));
  });
}
