import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { outboundFetch, OutboundRefusal } from './outbound-fetch.ts';

/** A server that sends the same response to every request. */
async function answering(head: string): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(`${head}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const at = server.address();
  return `http://127.0.0.1:${typeof at === 'object' ? at?.port : 0}/`;
}
const ask = outboundFetch({ ORIGIN_ALLOW: ['127.0.0.0/8'], ORIGIN_DENY: [] });

test.each(['200 OK', '204 No Content', '304 Not Modified', '404 Not Found', '599 Odd'])(
  '%s is an answer',
  async (head) => {
    const answer = await ask(await answering(`HTTP/1.1 ${head}`));
    expect(answer.status).toBe(Number(head.slice(0, 3)));
  },
);

test('a name that does not resolve and a name with a forbidden address fail alike', async () => {
  const strict = outboundFetch({ ORIGIN_ALLOW: [], ORIGIN_DENY: [] });
  for (const name of ['localhost', 'missing.invalid'])
    await expect(strict(`https://${name}/`)).rejects.toThrow(new OutboundRefusal(`${name} has no permitted address`));
});

test.each(['205 Reset Content', '600 More', '999 No'])('%s fails the call and nothing else', async (head) => {
  await expect(ask(await answering(`HTTP/1.1 ${head}`))).rejects.toThrow(`not understood (status ${head.slice(0, 3)})`);
});
