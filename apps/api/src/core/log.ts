import { pino, type DestinationStream } from 'pino';
import type { FastifyBaseLogger } from 'fastify';
import type { Env } from './env.ts';
import { logMessages } from './metrics.ts';

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

const WARN = 40;

export const openLog = (
  { LOG_LEVEL }: Pick<Env, 'LOG_LEVEL'>,
  to: DestinationStream = pino.destination(1),
): FastifyBaseLogger =>
  pino(
    {
      level: LOG_LEVEL,
      base: { process: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      hooks: {
        logMethod(args, method, level) {
          if (level >= WARN) logMessages.inc({ level: pino.levels.labels[level] ?? 'unknown' });
          method.apply(this, args);
        },
      },
      redact: {
        paths: secretNames.flatMap((name) => [name, `*.${name}`, `*.*.${name}`, `*.headers["set-${name}"]`]),
        censor: '[hidden]',
      },
    },
    to,
  );
