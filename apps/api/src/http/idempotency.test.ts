import { groups } from '@edgeloom/contract/all.ts';
import { expect, test } from 'vitest';
import { answersSecret, takesKey } from './idempotency.ts';

test('responses with secrets are detected by their field names', () => {
  const secret = groups
    .flatMap((group) => Object.values(group))
    .filter((endpoint) => takesKey(endpoint) && answersSecret(endpoint.reply))
    .map(({ feature, name }) => `${feature}.${name}`);
  expect(secret).toEqual(
    expect.arrayContaining([
      'auth.verify',
      'login2fa.phase0',
      'login2fa.phase1',
      'login2fa.phase2',
      'nodes.create',
      'nodes.rejoin',
    ]),
  );
});
