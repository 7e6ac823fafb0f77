import { pino, type DestinationStream } from 'pino';
import type { FastifyBaseLogger } from 'fastify';
import type { Env } from './env.ts';

/** Structured lines on stdout. Fields with these names are redacted at any depth. */
const secretNames = [
  'password',
  'authorization',
  'cookie',
  'token',
  'accessToken',
  'refreshToken',
  'onePassKey',
  'vcode',
  'privateKey',
  'jwt',
  'joinToken',
  'oldPassword',
  'verifyToken',
  'recoveryCodes',
  'secret',
];

export const openLog = (
  { LOG_LEVEL }: Pick<Env, 'LOG_LEVEL'>,
  to: DestinationStream = pino.destination(1),
): FastifyBaseLogger =>
  pino(
    {
      level: LOG_LEVEL,
      base: { process: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: {
        paths: secretNames.flatMap((name) => [name, `*.${name}`, `*.*.${name}`, `*.headers["set-${name}"]`]),
        censor: '[hidden]',
      },
    },
    to,
  );
