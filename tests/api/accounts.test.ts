// Accounts: who makes whom, what may be changed of whom, and what a state does.
import { afterAll, describe, expect, test } from 'vitest';
import { session } from '@edgeloom/contract/auth/auth.endpoints.ts';
import { testApp } from '../support/app.ts';
import '../support/matchers.ts';

const app = await testApp();
const { build, as, installation } = app;
const { db } = installation;
afterAll(app.close);

describe('the own account', () => {
  test('changes what is its own to say, and what was left out stays', async () => {
    const { client } = await build.client();
    const self = await as(client).call(session.updateSelf, {
      body: { name: 'night-shift', phone: '+886 2 1234', companyTaxID: '12345675', language: 'en', loginNotify: false },
    });
    expect(self).toMatchObject({ name: 'night-shift', phone: '+886 2 1234', companyTaxID: '12345675', language: 'en' });
    const again = await as(client).call(session.updateSelf, { body: { address: 'Taipei' } });
    expect(again).toEqual({ ...self, address: 'Taipei' });
    expect(await as(client).call(session.self)).toEqual(again);
  });

  test('takes no name but letters, digits and hyphens, and not "default"', async () => {
    const { client } = await build.client();
    for (const name of ['two words', '名字', '<b>', 'Default', ''])
      await expect(as(client).call(session.updateSelf, { body: { name } })).toFail('PARAMETER');
  });

  test('says nothing of what it may, or whose it is', async () => {
    const user = await build.user(await build.client());
    const before = await db.account.findUniqueOrThrow({ where: { id: user.id } });
    const body = {
      phone: '1',
      ...{ isRoot: false, kind: 'admin', status: 'lock', clientId: null, parentId: user.id, roleId: null },
      ...{ email: 'other@example.com', passwordHash: 'x', login2faType: 2, expiresAt: null, permissions: [] },
    };
    await as(user).call(session.updateSelf, { body });
    const after = await db.account.findUniqueOrThrow({ where: { id: user.id } });
    expect(after).toEqual({ ...before, phone: '1', updatedAt: after.updatedAt });
  });
});
