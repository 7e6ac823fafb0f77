import { expect, test } from 'vitest';
import { openLog } from './log.ts';

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
