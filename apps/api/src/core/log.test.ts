import { expect, test } from 'vitest';
import { openLog } from './log.ts';
import { logMessages } from './metrics.ts';

test('secrets are masked in logs by name', () => {
  const lines: string[] = [];
  const log = openLog({ LOG_LEVEL: 'info' }, { write: (line: string) => lines.push(line) });
  log.info(
    {
      password: 'one',
      user: { refreshToken: 'two' },
      request: { headers: { authorization: 'three', cookie: 'four' } },
    },
    'look',
  );
  expect(lines.join('')).not.toMatch(/one|two|three|four/);
  expect(lines).toHaveLength(1);
});

test('warnings and errors are counted by level', async () => {
  const log = openLog({ LOG_LEVEL: 'warn' }, { write: () => undefined });
  logMessages.reset();
  log.info('look');
  log.warn('look');
  log.child({ request: 1 }).error('look');
  const { values } = await logMessages.get();
  expect(values.map(({ labels, value }) => [labels.level, value])).toEqual([
    ['warn', 1],
    ['error', 1],
  ]);
});
