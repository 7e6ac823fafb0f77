import { expect, test } from 'vitest';
import { isPassword } from './passwords.ts';

test('an invalid stored hash fails its own check only', async () => {
  await expect(isPassword('no hash', 'x')).rejects.toThrow();
  expect(await isPassword(null, 'x')).toBe(false);
});
