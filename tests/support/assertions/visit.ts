// Sends a request for a host to one port, as a browser that resolved the name would.
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';

export interface Visit {
  status: number;
  body: string;
  /** `hit`, or the reason why the request was forwarded, from Cache-Status. */
  cache: string;
  headers: IncomingMessage['headers'];
}

/** Sends from this local address. Resolves with the status, or with the fact that the connection closed. */
export const statusFrom = (
  localAddress: string,
  port: number,
  host: string,
  at = '127.0.0.1',
  headers = {},
  path = '/',
) =>
  new Promise<number | 'closed'>((resolve) => {
    const asked = request({
      host: at,
      port,
      path,
      localAddress,
      headers: { host, ...headers },
      agent: false,
      timeout: 30_000,
    });
    asked.on('response', (answer) => resolve(answer.resume().statusCode ?? 0));
    asked.on('timeout', () => asked.destroy());
    asked.on('error', () => resolve('closed'));
    asked.end();
  });

/** `at` is the address of one of several nodes. */
export const visit = (
  port: number,
  host: string,
  path = '/',
  at = '127.0.0.1',
  headers: Record<string, string> = {},
): Promise<Visit> =>
  new Promise((resolve, reject) => {
    const asked = request({ host: at, port, path, headers: { ...headers, host }, timeout: 30_000 }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () => {
        const cacheStatus = String(answer.headers['cache-status'] ?? '');
        resolve({
          status: answer.statusCode ?? 0,
          body: Buffer.concat(chunks).toString(),
          cache: / fwd=([a-z-]+)/.exec(cacheStatus)?.[1] ?? (cacheStatus.includes('; hit') ? 'hit' : cacheStatus),
          headers: answer.headers,
        });
      });
    });
    asked.on('timeout', () => asked.destroy(new Error('the edge does not answer')));
    // nginx closed the idle connection while we wrote; browsers retry once.
    asked.on('error', (error: NodeJS.ErrnoException) =>
      asked.reusedSocket && error.code === 'ECONNRESET' ? resolve(visit(port, host, path, at, headers)) : reject(error),
    );
    asked.end();
  });
