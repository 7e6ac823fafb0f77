import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { configurationDoc, file } from './configuration-doc.ts';
import { Env, readEnv } from './core/env.ts';

test('docs/configuration.md says what the schema says: run node apps/api/src/configuration-doc.ts', async () => {
  expect(await readFile(file, 'utf8')).toBe(configurationDoc());
  expect(configurationDoc()).not.toContain('[object');
});

test('every variable is described', () => {
  expect(
    Object.entries(Env.shape)
      .filter(([, schema]) => !schema.description)
      .map(([name]) => name),
  ).toEqual([]);
});

const needed = { DATABASE_URL: 'postgres://x@127.0.0.1/x', SECRETS_DIR: '/secrets' };

test('what is not set, or set to nothing, has its default', () => {
  expect(readEnv({ ...needed, PORT: '', ORIGIN_ALLOW: '' })).toMatchObject({
    PORT: 8080,
    ADMIN_PORT: 8081,
    ORIGIN_ALLOW: [],
    LOG_LEVEL: 'info',
  });
  expect(readEnv({ ...needed, ORIGIN_ALLOW: '127.0.0.1/32, fd00::/8' }).ORIGIN_ALLOW).toEqual([
    '127.0.0.1/32',
    'fd00::/8',
  ]);
});

test('all errors of the environment are reported together, by name', () => {
  expect(() => readEnv({ DATABASE_URL: 'mysql://x', PORT: '70000', ORIGIN_ALLOW: 'everything' })).toThrow(
    /DATABASE_URL:(.|\n)*SECRETS_DIR:(.|\n)*PORT:(.|\n)*ORIGIN_ALLOW/,
  );
});
