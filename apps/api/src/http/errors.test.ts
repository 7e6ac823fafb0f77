import fastify from 'fastify';
import { expect, test } from 'vitest';
import { guardAnswers } from './errors.ts';

test('a server error that nothing names is 4005, in the envelope', async () => {
  const app = fastify({ logger: false });
  guardAnswers(app);
  app.get('/', (_request, reply) => reply.code(500).type('text/html').send('<h1>oops</h1>'));
  const response = await app.inject('/');
  expect(response.statusCode).toBe(500);
  expect(response.json()).toMatchObject({ isError: true, code: 4005, message: 'unknown' });
  await app.close();
});
