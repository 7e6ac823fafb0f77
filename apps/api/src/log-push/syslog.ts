// Syslog messages (RFC 5424) over TCP or TLS, framed by their length (RFC 6587, RFC 5425).
import { isIP, connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Env } from '../core/env.ts';
import { faultOf, guardedLookup, OutboundRefusal } from '../core/outbound-fetch.ts';

interface SyslogTarget {
  host: string;
  port: number;
  tls: boolean;
  ca: string;
}

/** Facility local0, severity informational. */
const PRIORITY = 16 * 8 + 6;
const TIMEOUT_MS = 10_000;
/** A server that accepts some bytes now and then holds its slot no longer. */
const TOTAL_TIMEOUT_MS = 30_000;
/** A server that does not close with us has the messages nevertheless. */
const CLOSE_MS = 3000;

/** The JSON of a line is one line of UTF-8. */
export function syslogMessage(line: string, time: string, nodeID: string): Buffer {
  const message = Buffer.from(`<${PRIORITY}>1 ${time} ${nodeID} edgeloom - access - ${line}`);
  return Buffer.concat([Buffer.from(`${message.length} `), message]);
}

/** TCP reports no processing: messages count as delivered if the connection ends without error. */
export function sendSyslog(
  settings: Pick<Env, 'ORIGIN_ALLOW' | 'ORIGIN_DENY'>,
  { host, port, tls, ca }: SyslogTarget,
  messages: Buffer,
  stopping: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (stopping.aborted) return reject(new Error('stopped'));
    const fault = isIP(host) ? faultOf(host, tls, settings) : null;
    if (fault) return reject(new OutboundRefusal(fault));
    const options = { host, port, lookup: guardedLookup(tls, settings) };
    const socket: Socket = tls
      ? connectTls({ ...options, ...(isIP(host) === 0 && { servername: host }), ...(ca !== '' && { ca }) })
      : connectPlain(options);
    let isWritten = false;
    let closing: NodeJS.Timeout | undefined;
    const expire = () => socket.destroy(new Error('timeout'));
    const stop = () => socket.destroy(new Error('stopped'));
    socket.setTimeout(TIMEOUT_MS, expire);
    const deadline = setTimeout(expire, TOTAL_TIMEOUT_MS);
    stopping.addEventListener('abort', stop);
    socket.once(tls ? 'secureConnect' : 'connect', () =>
      socket.end(messages, () => {
        isWritten = true;
        closing = setTimeout(() => socket.destroy(), CLOSE_MS);
      }),
    );
    // Servers that send something must not fill the buffer.
    socket.resume();
    socket.once('error', reject);
    socket.once('close', () => {
      clearTimeout(closing);
      clearTimeout(deadline);
      stopping.removeEventListener('abort', stop);
      if (isWritten) resolve();
      else reject(new Error('the connection was closed'));
    });
  });
}
