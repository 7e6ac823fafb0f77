// Solves challenges of anti-CC as the page does.
import { createHash, hash } from 'node:crypto';
import { expect } from 'vitest';
import { eventually } from '../assertions/eventually.ts';
import type { Reply } from '../services/edge.ts';

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

/** Repeats the request until the solution is no longer too early. */
export const sendSolution = <R extends Pick<Reply, 'status'>>(send: () => Promise<R>): Promise<R> =>
  eventually(async () => {
    const reply = await send();
    expect(reply.status).toBe(200);
    return reply;
  });
