// Processes cache sessions in memory, and a change in one must invalidate the cache in the others.
import { afterAll, expect, test } from 'vitest';
import { accounts } from '@edgeloom/contract/accounts/accounts.endpoints.ts';
import { session } from '@edgeloom/contract/auth/auth.endpoints.ts';
import { accessToken } from '../support/builders/api-clients.ts';
import { eventually } from '../support/assertions/eventually.ts';
import '../support/assertions/matchers.ts';
import { startApp } from '../support/services/running-app.ts';
import { services, testDatabase } from '../support/services/shared-services.ts';

const database = await testDatabase();
const [one, other] = [await startApp(services(), database), await startApp(services(), database)];
const { build } = one;
afterAll(() => Promise.all([one.close(), other.close()]));

test.each(['pause', 'lock'] as const)(
  '%s of a customer applies to its own and its sub-accounts’ tokens',
  async (status) => {
    const { client, clientId } = await build.client();
    const user = await build.user({ clientId });
    const sub = await build.subUser(user, []);
    const calls = [user, sub].map((who) => () => other.as(who).call(session.self));
    for (const call of calls) await call();
    await one.as(client).call(accounts.update, { body: { id: user.id, status } });
    for (const call of calls) await eventually(() => expect(call()).toFail('ACCOUNT_NOT_ENABLED'));
    await one.as(client).call(accounts.update, { body: { id: user.id, status: 'normal' } });
    for (const call of calls) await eventually(() => expect(call()).toFail('INVALID_TOKEN'));
  },
);

test('a lock of an operator applies to its customers, a pause only to itself', async () => {
  const admin = await build.admin();
  const { client, clientId } = await build.client();
  const user = await build.user({ clientId });
  const sub = await build.subUser(user, []);
  const change = (status: 'pause' | 'lock') => one.as(admin).call(accounts.update, { body: { id: client.id, status } });
  for (const who of [client, user, sub]) await other.as(who).call(session.self);
  await change('pause');
  await eventually(() => expect(other.as(client).call(session.self)).toFail('ACCOUNT_NOT_ENABLED'));
  for (const who of [user, sub]) await other.as(who).call(session.self);
  await change('lock');
  for (const who of [user, sub])
    await eventually(() => expect(other.as(who).call(session.self)).toFail('ACCOUNT_NOT_ENABLED'));
});

test('a switched session ends with either account', async () => {
  const { client, clientId } = await build.client();
  const [user, beside] = [await build.user({ clientId }), await build.user({ clientId })];
  const { db } = one.installation;
  const [asUser, asBeside] = await Promise.all(
    [user, beside].map(async ({ id, sessionId }) => {
      await db.session.update({ where: { id: sessionId }, data: { proxyId: client.id } });
      const claims = { sub: id, kind: 'user', client: clientId, session: sessionId, actor: client.id };
      return other.as({ kind: 'user', token: accessToken(one.installation, claims) }).call;
    }),
  );
  for (const call of [asUser, asBeside]) await call?.(session.self);
  await one.as(client).call(accounts.update, { body: { id: user.id, status: 'pause' } });
  await eventually(() => expect(asUser?.(session.self)).toFail('ACCOUNT_NOT_ENABLED'));
  await asBeside?.(session.self);
  await db.account.update({ where: { id: client.id }, data: { status: 'pause' } });
  await eventually(() => expect(asBeside?.(session.self)).toFail('ACCOUNT_NOT_ENABLED'));
});

test('a removal ends every session', async () => {
  const { client, clientId } = await build.client();
  const user = await build.user({ clientId });
  const sub = await build.subUser(user, []);
  for (const who of [user, sub]) await other.as(who).call(session.self);
  await one.as(client).call(accounts.remove, { body: { ids: [user.id] } });
  for (const who of [user, sub])
    await eventually(() => expect(other.as(who).call(session.self)).toFail('INVALID_TOKEN'));
});
