// Accounts with fewer rights than the endpoint requires are refused with the right code and without side effects. The
// table lists callers; new endpoints are covered automatically. Callers that are refused before their call is looked at
// send every sixth one in `npm test`.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Account } from '@edgeloom/api/generated/client.ts';
import { apiTokens } from '@edgeloom/api/core/auth/tokens.ts';
import { proxy } from '@edgeloom/contract/auth/auth.endpoints.ts';
import type { Family } from '@edgeloom/contract/family.ts';
import { errors, type ErrorName } from '@edgeloom/contract/errors.ts';
import { permissionsOf, type Permission } from '@edgeloom/contract/permissions.ts';
import type { SignedInAccount } from '../support/builders/api-clients.ts';
import { testApp } from '../support/services/app.ts';
import { unique } from '../support/builders/build.ts';
import { authenticatedCalls, filtersByBody, inputFor, send, type WireCall } from '../support/builders/every-call.ts';
import { hashTables } from '../support/assertions/hash-tables.ts';
import { casesOfRun } from '../support/builders/long-run.ts';
import { idsIn } from '../support/builders/sample-input.ts';
import { objectKindAt, world, type ObjectKind } from '../support/builders/world.ts';

const app = await testApp();
const { as, build, installation } = app;
const { db } = installation;
afterAll(() => app.close());

const home = await world(build, installation);
const admin = await build.admin();
const roots: Record<Family, SignedInAccount> = { admin, client: home.client, user: home.user };
/** Endpoints of all families are called by a client here. */
const familyOf = ({ family }: WireCall): Family => family ?? 'client';
const allBut = (family: Family, isLeftOut: (permission: Permission) => boolean) =>
  permissionsOf(family).filter((permission) => !isLeftOut(permission));

function sub(family: Family, permissions: Permission[]): Promise<SignedInAccount> {
  if (family === 'admin') return build.subAdmin(admin, { permissions });
  if (family === 'client') return build.subClient(home.tenant, [{ id: home.ids.zone }], { permissions });
  return build.subUser(home.user, [{ id: home.ids.site }], { permissions });
}

async function apiToken(
  owner: SignedInAccount,
  { permissions, ...wish }: { permissions: readonly Permission[]; cidrs?: string[]; expiresAt?: Date },
): Promise<string> {
  const token = apiTokens(installation.secrets).issue();
  const tokenHash = createHash('sha256').update(token).digest('hex');
  await db.apiToken.create({
    data: { accountId: owner.id, name: unique('token'), tokenHash, permissions: [...permissions], ...wish },
  });
  return token;
}

async function switched(family: Family): Promise<string> {
  const above: Record<Family, SignedInAccount> = { admin, client: admin, user: home.client };
  const target = family === 'admin' ? await sub('admin', [...permissionsOf('admin')]) : roots[family];
  const { accessToken } = await as(above[family]).call(proxy.start, { body: { accountID: target.id } });
  return accessToken;
}

/** An account of the family in its own tenant, with the accounts above it. */
async function chain(
  family: Family,
): Promise<{ sub: SignedInAccount; root: SignedInAccount; operator: SignedInAccount }> {
  const permissions = [...permissionsOf(family)];
  if (family === 'admin') {
    const root = await build.admin();
    return { sub: await build.subAdmin(root, { permissions }), root, operator: root };
  }
  const tenant = await build.client();
  const operator = tenant.client;
  if (family === 'client') return { sub: await build.subClient(tenant, [], { permissions }), root: operator, operator };
  const root = await build.user(tenant);
  return { sub: await build.subUser(root, [], { permissions }), root, operator };
}
type State = Partial<Pick<Account, 'status' | 'expiresAt'>>;
const suspended = (who: 'sub' | 'root' | 'operator', acts: 'sub' | 'root', data: State) => async (family: Family) => {
  const accounts = await chain(family);
  await db.account.update({ where: { id: accounts[who].id }, data });
  return accounts[acts].token;
};
const anyCall = { at: () => true, refused: 'ACCOUNT_NOT_ENABLED', isAnyCallAlike: true } as const;
const customers = { ...anyCall, at: ({ mount }: WireCall) => mount === 'user' } as const;
const past = new Date(Date.now() - 1000);

interface Caller {
  who: string;
  /** Endpoints that must be refused. */
  at: (call: WireCall) => boolean;
  refused: ErrorName;
  /** The refusal does not depend on the endpoint. */
  isAnyCallAlike?: true;
  /** Endpoints with the same key share a caller. */
  key?: (call: WireCall) => string;
  token: (family: Family, call: WireCall) => Promise<string>;
}

const needsRight = ({ endpoint: { can } }: WireCall) => can !== 'signedIn' && can !== 'anyone';
const areaOf = ({ endpoint: { can } }: WireCall) => can.split(':')[0] ?? '';
const ofArea = (call: WireCall) => (permission: Permission) => permission.startsWith(`${areaOf(call)}:`);

const callers: Caller[] = [
  { who: 'a paused account', ...anyCall, token: suspended('root', 'root', { status: 'pause' }) },
  { who: 'a locked account', ...anyCall, token: suspended('root', 'root', { status: 'lock' }) },
  { who: 'an expired account', ...anyCall, token: suspended('root', 'root', { status: 'expired' }) },
  { who: 'an account whose date has passed', ...anyCall, token: suspended('root', 'root', { expiresAt: past }) },
  { who: 'a locked sub-account', ...anyCall, token: suspended('sub', 'sub', { status: 'lock' }) },
  { who: 'a sub-account of a paused root account', ...anyCall, token: suspended('root', 'sub', { status: 'pause' }) },
  { who: 'a sub-account of a locked root account', ...anyCall, token: suspended('root', 'sub', { status: 'lock' }) },
  { who: 'a customer of a locked operator', ...customers, token: suspended('operator', 'root', { status: 'lock' }) },
  { who: 'a customer of an expired operator', ...customers, token: suspended('operator', 'root', { expiresAt: past }) },
  {
    who: 'a customer’s sub of a locked operator',
    ...customers,
    token: suspended('operator', 'sub', { status: 'lock' }),
  },
  {
    who: 'a role that only reads',
    at: ({ endpoint }) => endpoint.can.endsWith(':write'),
    refused: 'PERMISSION_DENIED',
    token: async (family) =>
      (
        await sub(
          family,
          allBut(family, (one) => one.endsWith(':write')),
        )
      ).token,
  },
  {
    who: 'a role without the area',
    at: needsRight,
    refused: 'PERMISSION_DENIED',
    key: areaOf,
    token: async (family, call) => (await sub(family, allBut(family, ofArea(call)))).token,
  },
  {
    who: 'an API token without the permission',
    at: needsRight,
    refused: 'PERMISSION_DENIED',
    key: ({ endpoint }) => endpoint.can,
    token: (family, { endpoint }) =>
      apiToken(roots[family], { permissions: allBut(family, (one) => one === endpoint.can) }),
  },
  {
    who: 'an API token of a role without the area',
    at: needsRight,
    refused: 'PERMISSION_DENIED',
    key: areaOf,
    token: async (family, call) =>
      apiToken(await sub(family, allBut(family, ofArea(call))), { permissions: permissionsOf(family) }),
  },
  {
    who: 'an API token that has run out',
    at: () => true,
    refused: 'INVALID_TOKEN',
    isAnyCallAlike: true,
    token: (family) =>
      apiToken(roots[family], { permissions: permissionsOf(family), expiresAt: new Date(Date.now() - 1000) }),
  },
  {
    who: 'an API token at another address than its own',
    at: () => true,
    refused: 'PERMISSION_DENIED',
    isAnyCallAlike: true,
    token: (family) =>
      apiToken(roots[family], { permissions: permissionsOf(family), cidrs: ['192.0.2.0/24', '::/128'] }),
  },
  {
    who: 'an API token at what is the owner’s own',
    at: ({ endpoint }) => endpoint.own === true,
    refused: 'PERMISSION_DENIED',
    token: (family) => apiToken(roots[family], { permissions: permissionsOf(family) }),
  },
  {
    who: 'a switched user at what is the owner’s own',
    at: ({ endpoint }) => endpoint.own === true,
    refused: 'PERMISSION_DENIED',
    token: switched,
  },
];

/** Tables that record the requests themselves. */
const requestTables = '^(audit_|rate_|idempotent_)';

/** The callers of the same refusal share the calls: each call meets a sixth of them. */
const alike = callers.filter(({ isAnyCallAlike }) => isAnyCallAlike);
function callsOf(caller: Caller): WireCall[] {
  const all = authenticatedCalls.filter(caller.at);
  return caller.isAnyCallAlike ? casesOfRun(all, 6, alike.indexOf(caller) % 6) : all;
}

describe.each(callers)('$who', (caller) => {
  const { refused, key = () => '', token } = caller;
  const those = callsOf(caller);
  const keyOf = (call: WireCall) => `${familyOf(call)} ${key(call)}`;
  const tokens = new Map<string, string>();
  let before: Record<string, string>;

  beforeAll(async () => {
    for (const call of those) if (!tokens.has(keyOf(call))) tokens.set(keyOf(call), await token(familyOf(call), call));
    before = await hashTables(installation, requestTables);
  });

  test.each(those)('is refused $title', async (call) => {
    const { status, body } = await send(app, call, inputFor(call.endpoint, home.ids), tokens.get(keyOf(call)));
    const { code, status: expected } = errors[refused];
    expect([status, body.code], JSON.stringify(body)).toEqual([expected, code]);
  });

  test('has caused no change', async () => {
    expect(those.length).toBeGreaterThan(10);
    expect(await hashTables(installation, requestTables)).toEqual(before);
  });
});

/** Objects that a sub-account sees only when assigned. */
const given: readonly (ObjectKind | null)[] = [
  'site',
  'zone',
  'domain',
  'upstream',
  'forward',
  'forwardUpstream',
  'cacheRule',
  'purge',
  'port',
  'node',
  'product',
];
const ofGiven = authenticatedCalls.filter(
  ({ endpoint, mount }) =>
    (mount === 'user' || mount === 'client') &&
    idsIn(inputFor(endpoint, home.ids), (path) => given.includes(objectKindAt(endpoint, path.slice(1)))).length > 0,
);

describe('a sub-account without assignments', () => {
  const tokens = new Map<string, string>();
  let before: Record<string, string>;

  beforeAll(async () => {
    tokens.set('user', (await build.subUser(home.user, [], { permissions: [...permissionsOf('user')] })).token);
    tokens.set('client', (await build.subClient(home.tenant, [], { permissions: [...permissionsOf('client')] })).token);
    before = await hashTables(installation, requestTables);
  });

  test.each(ofGiven)('finds nothing: $title', async (call) => {
    const { status, body } = await send(app, call, inputFor(call.endpoint, home.ids), tokens.get(call.mount));
    const reads = call.method === 'GET' || filtersByBody.includes(call.endpoint);
    const isNothing = reads && status === 200 && body.data?.length === 0;
    expect(isNothing || body.code === errors.PARAMETER.code, `${status} ${JSON.stringify(body)}`).toBe(true);
  });

  test('has caused no change', async () => {
    expect(ofGiven.length).toBeGreaterThan(10);
    expect(await hashTables(installation, requestTables)).toEqual(before);
  });
});

describe('each permission that a call requires', () => {
  test.each(authenticatedCalls.filter(needsRight))('exists where it is called: $title', ({ endpoint, family }) => {
    const families: readonly Family[] = family === null ? ['user', 'client', 'admin'] : [family];
    for (const family of families) expect(permissionsOf(family)).toContain(endpoint.can);
  });
});
