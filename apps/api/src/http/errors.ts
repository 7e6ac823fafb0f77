import type { Socket } from 'node:net';
import { randomUUIDv7, type UUID } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { errors, type ErrorEntry, type ErrorEnvelope, type ErrorName } from '@edgeloom/contract/errors.ts';
import { Failure, type Particulars } from '../core/fail.ts';
import { apiHeaders } from './console.ts';

/** Maps errors of Fastify and the database to the catalogue. */
const foreign: Record<string, ErrorName> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'TOO_LARGE',
  FST_REQ_FILE_TOO_LARGE: 'TOO_LARGE',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'WRONG_TYPE',
  FST_INVALID_MULTIPART_CONTENT_TYPE: 'WRONG_TYPE',
  FST_ERR_BAD_URL: 'NO_SUCH_CALL',
  FST_ERR_NOT_FOUND: 'NO_SUCH_CALL',
  // A text with a NUL character, which PostgreSQL cannot store.
  '22021': 'PARAMETER',
  '22P05': 'PARAMETER',
  // No such row, or a duplicate value for which the service has no more specific error.
  P2025: 'NOT_FOUND',
  // Raised by stamp_update(): the object does not match If-Match.
  EL412: 'CHANGED',
  // A lock or statement time-out; only drafts set one.
  '55P03': 'BUSY',
  '57014': 'BUSY',
  // A deadlock in every attempt (core/repeat.ts).
  '40P01': 'BUSY',
  '40001': 'BUSY',
  P2034: 'BUSY',
  P2002: 'DUPLICATED',
  P1001: 'DATABASE_UNAVAILABLE',
  P1002: 'DATABASE_UNAVAILABLE',
  P1008: 'DATABASE_UNAVAILABLE',
  P1017: 'DATABASE_UNAVAILABLE',
  P2024: 'DATABASE_UNAVAILABLE',
  P2028: 'DATABASE_UNAVAILABLE',
  P2037: 'DATABASE_UNAVAILABLE',
  ECONNREFUSED: 'DATABASE_UNAVAILABLE',
  ECONNRESET: 'DATABASE_UNAVAILABLE',
};
/** PostgreSQL is stopping, starting or out of connections (classes 08 and 57P, and 53300). */
const unreachable = /^(?:08|57P|53300)/;
const brokenConnection =
  /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Server has closed the connection/;

const partOf = (error: unknown, name: string): unknown =>
  typeof error === 'object' && error !== null ? Reflect.get(error, name) : undefined;

const textOf = (error: unknown, name: string) => {
  const part = partOf(error, name);
  return typeof part === 'string' ? part : '';
};

export function reasonOf(error: unknown): ErrorName {
  if (error instanceof Failure) return error.reason;
  const code = textOf(error, 'code');
  const known = foreign[code];
  if (known) return known;
  if (unreachable.test(code) || brokenConnection.test(textOf(error, 'message'))) return 'DATABASE_UNAVAILABLE';
  // Prisma wraps the driver's error.
  const driver = partOf(partOf(error, 'meta'), 'driverAdapterError') ?? partOf(error, 'cause');
  if (driver !== undefined) {
    const reason = reasonOf(driver);
    if (reason !== 'UNKNOWN') return reason;
  }
  const kind = partOf(error, 'kind');
  if (kind === 'DatabaseNotReachable' || kind === 'SocketTimeout' || kind === 'TooManyConnections')
    return 'DATABASE_UNAVAILABLE';
  const status = partOf(error, 'statusCode');
  return typeof status === 'number' && status >= 400 && status < 500 ? 'PARAMETER' : 'UNKNOWN';
}

export function envelope(reason: ErrorName, reqID: string, { errorData, extra = {} }: Particulars = {}): ErrorEnvelope {
  const { code, message, rule, path }: ErrorEntry = errors[reason];
  return {
    isError: true,
    code,
    message,
    errorData: errorData ? [...errorData] : rule ? [{ ...(path && { path }), rule }] : [],
    extra,
    reqID,
  };
}

/** Sends the error response of every failed request, including errors of the router. */
export function answerFailure(error: unknown, request: FastifyRequest, reply: FastifyReply) {
  const reason = reasonOf(error);
  const particulars: Particulars = error instanceof Failure ? error.particulars : {};
  if (errors[reason].status >= 500) request.log.error({ err: error }, 'call failed');
  const retryAfter = particulars.extra?.['retryAfterSeconds'];
  if (typeof retryAfter === 'number') reply.header('retry-after', String(Math.ceil(retryAfter)));
  return reply
    .headers({ ...apiHeaders, 'x-request-id': request.id })
    .status(particulars.status ?? errors[reason].status)
    .type('application/json')
    .send(JSON.stringify(envelope(reason, request.id, particulars)));
}

/** Ensures that every failed call has the error envelope, even after a plugin or a crash replaced the response. */
export function guardAnswers(app: FastifyInstance) {
  app.addHook('onSend', (request, reply, payload, done) => {
    if (reply.statusCode < 400 || (typeof payload === 'string' && payload.startsWith('{"isError":true')))
      return done(null, payload);
    request.log.error({ status: reply.statusCode }, 'an answer without envelope was replaced');
    const reason = reply.statusCode === 404 ? 'NO_SUCH_CALL' : reply.statusCode < 500 ? 'PARAMETER' : 'UNKNOWN_4005';
    reply.type('application/json').removeHeader('content-length');
    done(null, JSON.stringify(envelope(reason, request.id)));
  });
}

/** Invalid HTTP never becomes a request; the error response is written to the socket. */
export function answerBrokenRequest(error: Error & { code?: string }, socket: Socket) {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
  const reason: ErrorName = error.code === 'HPE_HEADER_OVERFLOW' ? 'TOO_LARGE' : 'PARAMETER';
  const reqID: UUID = randomUUIDv7();
  const body = JSON.stringify(envelope(reason, reqID));
  const head = [
    `HTTP/1.1 ${errors[reason].status} Refused`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${reqID}`,
    ...Object.entries(apiHeaders).map(([name, value]) => `${name}: ${value}`),
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
