// Solves challenges of anti-CC as the page does.
import { createHash, hash } from 'node:crypto';
import { expect } from 'vitest';
import type { LuaChange, Reply } from '../services/edge.ts';

export const pageData = (reply: Pick<Reply, 'body'>, name: string) =>
  new RegExp(`data-${name}="([^"]*)"`).exec(reply.body)?.[1] ?? '';
export const passOf = (reply: Pick<Reply, 'header'>) =>
  /^edgeloom_pass=[^;]+/.exec(reply.header('set-cookie') ?? '')?.[0] ?? '';

/** The hash of a browser's secret, as a pass contains it. */
export const hashOf = (secret: string) => createHash('sha256').update(secret).digest('hex').slice(0, 32);

/** The cookie that solves the proof of work. `secret`: the browser's. */
export function workedOut(question: string, secret?: string): string {
  const [, level = '', , mac = ''] = question.split('.');
  const bits = 12 + Number(level);
  const found = Array.from({ length: 8 }, (_none, n) => {
    for (let tried = 0; ; tried += 1) {
      const bytes = hash('sha256', `${mac}:${n}:${tried}`, 'buffer');
      if (bytes.readUInt32BE() >>> (32 - bits) === 0) return tried;
    }
  });
  return `edgeloom_answer=${question}~${found.join('-')}${secret ? `~${hashOf(secret)}` : ''}`;
}

/** For `startEdge`: a solution is never too early. */
export const acceptsAtOnce: LuaChange = {
  file: 'edge/anti_cc/proofs.lua',
  from: 'local LEAST_MS = 1000',
  to: 'local LEAST_MS = 0',
};

/** Sends a solution, which has to pass. */
export async function sendSolution<R extends Pick<Reply, 'status'>>(send: () => Promise<R>): Promise<R> {
  const reply = await send();
  expect(reply.status).toBe(200);
  return reply;
}
