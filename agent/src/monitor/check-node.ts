// One check of one node, as a visitor's request: by HTTP, a TCP connection, or a ping.
import { execFile } from 'node:child_process';
import { request as httpRequest } from 'node:http';
import type { IncomingMessage, RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import net from 'node:net';
import type { MonitorCheck } from '@edgeloom/contract/edge/monitors.ts';

/** `error`: why the node fails. Null: it works. */
export interface Finding {
  error: string | null;
  tookMs: number;
}

const USER_AGENT = 'Edgeloom-Monitor';
/** A content check reads this much of a response. */
const MAX_BODY_BYTES = 1024 * 1024;

/** This machine cannot do the check, which says nothing about the node. */
export class CannotCheckError extends Error {}

/** Errors of this machine or of the settings: no route of this family, a local firewall, too many sockets. */
const LOCAL_ERRORS = new Set([
  'ERR_INVALID_URL',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'EAFNOSUPPORT',
  'EACCES',
  'EPERM',
  'EMFILE',
  'ENFILE',
  'ENOBUFS',
  'ENOMEM',
]);

/** The check ends early if `stopping` aborts. */
export async function checkNode(check: MonitorCheck, stopping?: AbortSignal): Promise<Finding> {
  const started = performance.now();
  const timeout = AbortSignal.timeout(check.timeout * 1000);
  const signal = stopping === undefined ? timeout : AbortSignal.any([stopping, timeout]);
  const error = await errorOf(check, signal).catch((error: unknown) => {
    if (error instanceof CannotCheckError) throw error;
    if (isLocal(error)) throw new CannotCheckError(messageOf(error), { cause: error });
    return signal.aborted ? `no response within ${check.timeout} s` : messageOf(error);
  });
  return { error, tookMs: Math.round(performance.now() - started) };
}

const isLocal = (error: unknown) =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && LOCAL_ERRORS.has(error.code);

async function errorOf(check: MonitorCheck, signal: AbortSignal): Promise<string | null> {
  if (check.type === 3) return connectTo(check, signal);
  if (check.type === 4) return ping(check, signal);
  return requestFrom(check, signal);
}

function connectTo({ ip, port }: MonitorCheck, signal: AbortSignal): Promise<null> {
  return new Promise((resolve, reject) => {
    const socket = net.connect({ host: ip, port: port ?? 80, signal });
    socket.once('connect', () => {
      socket.destroy();
      resolve(null);
    });
    socket.once('error', reject);
  });
}

/** The system's program, because ICMP needs privileges that the agent should not have. */
function ping({ ip, timeout }: MonitorCheck, signal: AbortSignal): Promise<string | null> {
  const args = ['-n', '-q', '-c', '1', '-W', String(timeout), ...(net.isIPv6(ip) ? ['-6'] : []), ip];
  return new Promise((resolve, reject) => {
    execFile('ping', args, { signal }, (error) => {
      if (error === null) return resolve(null);
      if (signal.aborted) return reject(error);
      // 1: no response. Other codes are errors of the program, such as a missing privilege.
      if (error.code === 1) return resolve('no response to a ping');
      reject(new CannotCheckError(messageOf(error)));
    });
  });
}

/** How the node is asked. Without a URL any response will do, since a node refuses names that it does not know. */
function requestOf({ ip, port, url, host, tlsName, userAgent }: MonitorCheck): RequestOptions & { tls: boolean } {
  const address = new URL(url ?? `http://${net.isIPv6(ip) ? `[${ip}]` : ip}/`);
  const tls = address.protocol === 'https:';
  const name = host ?? address.host;
  const serverName = tlsName ?? new URL(`http://${name}`).hostname;
  return {
    tls,
    host: ip,
    port: port ?? (address.port || (tls ? 443 : 80)),
    path: `${address.pathname}${address.search}`,
    headers: { host: name, 'user-agent': userAgent || USER_AGENT, accept: '*/*' },
    agent: false,
    // A node is checked, not its certificates: those are checked where they are issued.
    ...(tls && { rejectUnauthorized: false, servername: net.isIP(serverName) === 0 ? serverName : '' }),
  };
}

function requestFrom(check: MonitorCheck, signal: AbortSignal): Promise<string | null> {
  const { tls, ...options } = requestOf(check);
  return new Promise((resolve, reject) => {
    const call = (tls ? httpsRequest : httpRequest)({ ...options, signal }, (response) => {
      response.once('error', reject);
      findingOf(check, response).then(resolve, reject);
    });
    call.once('error', reject);
    call.end();
  });
}

async function findingOf(check: MonitorCheck, response: IncomingMessage): Promise<string | null> {
  const status = response.statusCode ?? 0;
  const body = check.type === 2 && isExpected(check, status) ? await readBody(response) : '';
  response.destroy();
  if (!isExpected(check, status)) return `status ${status}`;
  return check.type === 1 || body.includes(check.content ?? '') ? null : 'the expected content is missing';
}

function isExpected({ status: expected, url }: MonitorCheck, status: number): boolean {
  if (expected !== null) return status === expected;
  return url === null || (status >= 200 && status < 400);
}

async function readBody(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    parts.push(part);
    size += part.length;
    if (size >= MAX_BODY_BYTES) break;
  }
  return Buffer.concat(parts).toString();
}

export const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error)).slice(0, 300);
