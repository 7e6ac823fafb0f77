import type { FastifyBaseLogger } from 'fastify';

export type LinkLog = Pick<FastifyBaseLogger, 'info' | 'warn' | 'error'>;
