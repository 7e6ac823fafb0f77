import { expect, test } from 'vitest';
import { newWebhookSecret, signatureOf } from './webhook.ts';

test('signs as the published example of Standard Webhooks', () => {
  const example = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp: 1_614_265_330, body: '{"test": 2432232314}' };
  expect(signatureOf('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', example)).toBe(
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  );
});

test('each secret is new, and has 32 bytes', () => {
  const [one, other] = [newWebhookSecret(), newWebhookSecret()];
  expect(one).not.toBe(other);
  expect(Buffer.from(one.slice('whsec_'.length), 'base64')).toHaveLength(32);
});
