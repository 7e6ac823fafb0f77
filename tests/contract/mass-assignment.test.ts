// What a body may not say: fields that are the server's own, and fields that nobody declared, wherever they are put, change
// nothing. Generated over every call that takes a body.
import { afterAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { Family } from '@edgeloom/contract/endpoint.ts';
import type { Signed } from '../support/actors.ts';
import { testApp } from '../support/app.ts';
import { guarded, inputFor, send, type WireCall } from '../support/every-call.ts';
import { world, type World } from '../support/world.ts';

const app = await testApp();
const { build, installation } = app;
const { db, pool } = installation;
afterAll(() => app.close());
const admin = await build.admin();

const text = 'mass-assigned';
const id = '0badf00d-0bad-7bad-8bad-0badf00df00d';
const time = '1999-09-09T09:09:09.000Z';
const planted: Readonly<Record<string, unknown>> = {
  ...Object.fromEntries(
    [
      'id',
      'clientId',
      'clientID',
      'parentId',
      'parentID',
      'roleId',
      'roleID',
      'ownerId',
      'userID',
      'accountId',
      'siteId',
    ]
      .concat([
        'siteID',
        'zoneId',
        'zoneID',
        'productId',
        'productID',
        'domainId',
        'certificateId',
        'sessionId',
        'proxyId',
      ])
      .map((name) => [name, id]),
  ),
  ...Object.fromEntries(
    ['kind', 'auth', 'status', 'passwordHash', 'password_hash', 'tokenHash', 'keySealed', 'secretSealed', 'createdBy']
      .concat(['nobodyDeclaredThis', 'cnameStatus', 'certStatus', 'state', 'digest', 'email', 'enabledName'])
      .map((name) => [name, text]),
  ),
  ...Object.fromEntries(
    ['createdAt', 'updatedAt', 'created_at', 'expiresAt', 'expiry', 'lastSignInAt', 'joinedAt'].map((name) => [
      name,
      time,
    ]),
  ),
  isRoot: true,
  is_root: true,
  manageable: true,
  permissions: [text],
  login2faType: 2,
  cacheVersion: 990_909,
  revision: 990_909,
};

/** The same body with everything planted in each of its objects that is not declared there. */
function poisoned(schema: z.core.$ZodType | undefined, value: unknown): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return poisoned(schema.unwrap(), value);
  if (schema instanceof z.ZodPipe) return poisoned(schema.in, value);
  if (schema instanceof z.ZodUnion) return poisoned(schema.options[0], value);
  if (schema instanceof z.ZodArray && Array.isArray(value))
    return value.map((item: unknown) => poisoned(schema.element, item));
  if (!(schema instanceof z.ZodObject) || typeof value !== 'object' || value === null) return value;
  const { shape } = schema;
  const own = Object.entries(value).map(([name, part]): [string, unknown] => [name, poisoned(shape[name], part)]);
  const others = Object.entries(planted).filter(([name]) => !(name in shape));
  return Object.fromEntries([...others, ...own]);
}

/** Tables in which a planted value has arrived. */
async function arrivals(): Promise<string[]> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`,
  );
  // The number as a word of its own: an id may hold its digits by chance.
  const marks = String.raw`${text}|${id}|1999-09-09|\m990909\M`;
  const { rows } = await pool.query<{ name: string }>(
    tables
      .map(({ name }) => `SELECT '${name}' AS name WHERE EXISTS (SELECT 1 FROM ${name} t WHERE t::text ~ '${marks}')`)
      .join(' UNION ALL '),
  );
  return rows.map(({ name }) => name);
}

/** Who may what, which no call of this walk is meant to change for an account that exists. */
const powers = async ({ tenant }: World) =>
  db.account.findMany({
    where: { OR: [{ clientId: tenant.clientId }, { kind: 'admin' }] },
    select: { id: true, kind: true, isRoot: true, parentId: true, clientId: true, login2faType: true, createdAt: true },
    orderBy: { id: 'asc' },
  });

const writes = guarded.filter(({ endpoint }) => endpoint.body && endpoint.method !== 'GET' && !endpoint.accepts);

const features = [...Map.groupBy(writes, ({ endpoint }) => endpoint.feature)].map(([feature, calls]) => ({
  feature,
  calls,
}));

describe.each(features)('$feature', ({ calls }) => {
  test.each(calls)('$title takes nothing that it does not declare', async (call: WireCall) => {
    const home = await world(build, installation);
    const who: Record<Family, Signed> = { admin, client: home.client, user: home.user };
    const { token } = who[call.mount === 'root' ? 'client' : call.mount];
    const input = inputFor(call.endpoint, home.ids);
    const before = new Map((await powers(home)).map((account) => [account.id, account]));
    const { status } = await send(app, call, { ...input, body: poisoned(asSchema(call), input.body) }, token);
    expect(status).not.toBe(500);
    // Those that were there are as they were; one that the call made is no root account.
    const after = await powers(home);
    expect(after).toEqual(after.map((account) => before.get(account.id) ?? { ...account, isRoot: false }));
  });

  // All tables are searched, so once for all of them.
  test('left nothing that nobody declared in any table', async () => {
    expect(await arrivals()).toEqual([]);
  });
});

const asSchema = ({ endpoint }: WireCall) => (endpoint.body instanceof z.ZodType ? endpoint.body : undefined);
