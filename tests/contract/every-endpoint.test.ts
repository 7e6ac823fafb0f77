// Properties of every endpoint, including future ones.
import { randomUUIDv7 } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { errors } from '@edgeloom/contract/errors.ts';
import type { Mount } from '@edgeloom/contract/family.ts';
import { permissions } from '@edgeloom/contract/permissions.ts';
import type { SignedInAccount } from '../support/builders/api-clients.ts';
import { testApp } from '../support/services/app.ts';
import {
  calls,
  authenticatedCalls as allGuarded,
  filtersByBody,
  Input,
  inputFor,
  send,
  type WireResponse,
  type WireCall,
} from '../support/builders/every-call.ts';
import { idsIn, withAt } from '../support/builders/sample-input.ts';
import {
  snapshotOf,
  objectKindAt,
  objectKinds,
  world,
  type Ids,
  type ObjectKind,
  type World,
} from '../support/builders/world.ts';

// The probe of an origin goes to this machine.
const app = await testApp({ ORIGIN_ALLOW: '127.0.0.0/8' });
const { build, installation } = app;
afterAll(() => app.close());

const [home, elsewhere] = [await world(build, installation), await world(build, installation)];
// Another customer of the same operator, and another account of the customer. No call below changes these.
const { tenant, user: owner } = home;
const [beside, second] = [
  await world(build, installation, { tenant }),
  await world(build, installation, { tenant, owner }),
];
const all = { permissions: [...permissions] };
const [subClient, subUser] = [
  await build.subClient(tenant, [{ id: home.ids.zone }], all),
  await build.subUser(owner, [{ id: home.ids.site }], all),
];

const guarded = allGuarded.filter(({ family }) => family !== null);
const withIds = guarded
  .filter(({ family }) => family !== 'admin')
  .filter(({ endpoint }) => {
    return idsIn(inputFor(endpoint, home.ids), (path) => objectKindAt(endpoint, path.slice(1)) !== null).length > 0;
  });
/** Objects that are only accessible below a site or zone. */
const below: readonly ObjectKind[] = [
  'port',
  'preheatCache',
  'block',
  'domain',
  'upstream',
  'forward',
  'forwardUpstream',
  'cacheRule',
  'purge',
  'job',
];
const nested = withIds.filter(
  ({ endpoint }) =>
    idsIn(inputFor(endpoint, home.ids), (path) => below.includes(objectKindAt(endpoint, path.slice(1)) ?? 'site'))
      .length > 0,
);

const admin = await build.admin();
/** For read-only calls, which do not change it. */
const readOnly = await world(build, installation);

/** Snapshots before the calls, compared after the last one. No call may change these worlds. */
const firstPictures = new Map<World, string>();
for (const foreign of [elsewhere, beside, second]) firstPictures.set(foreign, await snapshotOf(foreign, installation));

/** Exports and saved searches belong to an account. */
const idsOf = ({ ids, clientIds }: World, mount: Mount): Ids => (mount === 'client' ? { ...ids, ...clientIds } : ids);
const accountOf = ({ client, user }: World, mount: Mount) => (mount === 'client' ? client : user);

describe.each(calls.filter((call) => !guarded.includes(call)))('$title', (call) => {
  const { endpoint } = call;

  test('is mounted once', async () => {
    const { body } = await send(app, call, inputFor(endpoint, home.ids));
    expect(body.code).not.toBe(errors.NO_SUCH_CALL.code);
  });
});

describe.each(guarded)('$title', (call) => {
  const { endpoint, family } = call;

  test('is mounted once, and rejects anonymous calls', async () => {
    const { status, body } = await send(app, call, inputFor(endpoint, home.ids));
    expect([status, body.code]).toEqual([401, errors.INVALID_TOKEN.code]);
  });

  test('rejects other kinds of accounts', async () => {
    const others = [home.user, home.client, admin].filter(({ kind }) => kind !== family);
    const responses = others.map(({ token }) => send(app, call, inputFor(endpoint, home.ids), token));
    for (const { status, body } of await Promise.all(responses))
      expect([status, body.code]).toEqual([403, errors.PERMISSION_DENIED.code]);
  });
});

/** One sign-in for all calls of a family with the same permission. */
const subsWithout = new Map<string, Promise<SignedInAccount>>();
function subWithout({ endpoint, family }: WireCall): Promise<SignedInAccount> {
  const key = `${family} ${endpoint.can}`;
  const allButIts = { permissions: permissions.filter((permission) => permission !== endpoint.can) };
  const sub =
    subsWithout.get(key) ??
    (family === 'client'
      ? build.subClient(home.tenant, [{ id: home.ids.zone }], allButIts)
      : build.subUser(home.user, [{ id: home.ids.site }], allButIts));
  subsWithout.set(key, sub);
  return sub;
}

describe.each(guarded.filter(({ endpoint }) => endpoint.can !== 'signedIn'))('$title', (call) => {
  const { endpoint } = call;

  test('rejects an account without the permission before it validates the input', async () => {
    const sub = await subWithout(call);
    const input = inputFor(endpoint, home.ids);
    const { status, body } = await send(app, call, endpoint.body ? { ...input, body: {} } : input, sub.token);
    expect([status, body.code]).toEqual([403, errors.PERMISSION_DENIED.code]);
  });
});

/** Whether the object is reported as missing or forbidden. As a filter, it matches nothing. */
const isHidden = ({ status, body }: WireResponse, isFilter: boolean) =>
  status === 404 ||
  (status === 400 && body.code === errors.PARAMETER.code) ||
  (isFilter && status === 200 && (body.data ?? body.list)?.length === 0);

/** Responses to missing objects, by account, call and input. Several tests below compare with the same one. */
const absentResponses = new Map<string, Promise<WireResponse>>();

/** Puts foreign ids into the input, one place in each request. Returns the number of places. */
async function tryForeign(
  call: WireCall,
  who: SignedInAccount,
  own: Ids,
  foreign: World,
  only: readonly ObjectKind[] = objectKinds,
): Promise<number> {
  const { endpoint } = call;
  const input = inputFor(endpoint, own);
  const places = idsIn(input, (path, text) => {
    const thing = objectKindAt(endpoint, path.slice(1));
    return thing !== null && only.includes(thing) && Object.values(own).includes(text);
  });
  const tryAt = async (place: (typeof places)[number]) => {
    const thing = objectKindAt(endpoint, place.slice(1)) ?? 'site';
    const put = (id: string) => Input.parse(withAt(input, place, id));
    const key = `${who.id} ${call.title} ${JSON.stringify(withAt(input, place, 'absent'))}`;
    const missing = absentResponses.get(key) ?? send(app, call, put(randomUUIDv7()), who.token);
    absentResponses.set(key, missing);
    const [absent, another] = await Promise.all([
      missing,
      send(app, call, put(idsOf(foreign, call.mount)[thing]), who.token),
    ]);
    const what = `${place.join('.')} = another's ${thing}: ${JSON.stringify(another)}`;
    expect(isHidden(another, place[0] === 'query' || filtersByBody.includes(endpoint)), what).toBe(true);
    // Identical to the response for a missing object.
    expect({ ...another, body: { ...another.body, reqID: '' } }, what).toEqual({
      ...absent,
      body: { ...absent.body, reqID: '' },
    });
    const shown = JSON.stringify(another.body);
    expect(
      Object.values(foreign.ids).filter((id) => shown.includes(id)),
      what,
    ).toEqual([]);
  };
  await Promise.all(places.map(tryAt));
  return places.length;
}

/** For writes, one of each mount, because both remove the same objects. */
const writable = new Map<Mount, World>();
/** A world in which no call has succeeded. */
let unchanged = await world(build, installation);

/**
 * A write that does not succeed is sent again in an unchanged world, because earlier calls may have changed or removed
 * its objects. A refused call changes nothing, so the next one uses that world, too: making one takes half a second.
 */
async function sendAsOwner(call: WireCall): Promise<WireResponse> {
  const sendIn = (own: World) =>
    send(app, call, inputFor(call.endpoint, idsOf(own, call.mount)), accountOf(own, call.mount).token);
  if (call.method === 'GET') return sendIn(readOnly);
  const used = writable.get(call.mount);
  const first = used && (await sendIn(used));
  if (first?.status === 200) return first;
  const response = await sendIn(unchanged);
  if (response.status === 200) {
    writable.set(call.mount, unchanged);
    unchanged = await world(build, installation);
  }
  return response;
}

/** Removals come last, and what has the longest path before what contains it. */
const isRemoval = ({ method }: WireCall) => Number(method === 'DELETE');
const depth = ({ path }: WireCall) => path.split('/').length;
const removalsLast = withIds.toSorted(
  (a, b) => isRemoval(a) - isRemoval(b) || (isRemoval(a) === 1 ? depth(b) - depth(a) : 0),
);

describe.each(removalsLast)('$title', (call) => {
  const { endpoint, mount } = call;

  test('succeeds for its own account, which makes the following checks meaningful', async () => {
    const { status, body } = await sendAsOwner(call);
    // A sample may violate a rule of its call, but must not fail with a missing object or invalid format.
    const mayFail: WireResponse['body']['code'][] = (endpoint.fails ?? []).map((name) => errors[name].code);
    const isNoDomain =
      body.errorData?.every(({ rule = '' }) => ['domain', 'notFound', 'self', 'forbidden'].includes(rule)) &&
      [
        'purge',
        'preheat',
        'preheatCaches',
        'domains',
        'nodes',
        'simulate',
        'copies',
        'zoneSettings',
        'blockIPs',
        'wafs',
        // Its sample site belongs to a customer.
        'predefinedSetting',
      ].includes(endpoint.feature);
    expect(status === 200 || isNoDomain || mayFail.includes(body.code), JSON.stringify(body)).toBe(true);
    // Responses are not validated when they are encoded, so validate here.
    const isJson = endpoint.reply && (endpoint.answers ?? 'application/json') === 'application/json';
    const asDeclared = status === 200 && isJson ? endpoint.reply?.safeParse(body).error?.issues : undefined;
    expect(asDeclared, JSON.stringify(body)).toBeUndefined();
  });

  test("hides another tenant's objects", async () => {
    expect(await tryForeign(call, accountOf(home, mount), idsOf(home, mount), elsewhere)).toBeGreaterThan(0);
  });

  test('hides unassigned objects from a sub-account and from another customer', async () => {
    // All sub-clients of a client see its accounts, branding, announcements, error pages and monitors.
    const { user, subUser: sub, subClient: other, branding, announcement, defaultErrorPage } = elsewhere.ids;
    const { monitorNode, monitorGroup } = elsewhere.ids;
    const ofClient = { user, subClient: other, branding, announcement, defaultErrorPage, monitorNode, monitorGroup };
    const ids = { ...beside.ids, ...ofClient, subUser: sub };
    const attempts: [SignedInAccount, World][] =
      mount === 'client'
        ? [[subClient, { ...beside, ids }]]
        : [
            [owner, beside],
            [subUser, { ...second, ids: { ...second.ids, subUser: sub } }],
          ];
    const placesOf = ([who, foreign]: (typeof attempts)[number]) => tryForeign(call, who, idsOf(home, mount), foreign);
    for (const places of await Promise.all(attempts.map(placesOf))) expect(places).toBeGreaterThan(0);
  });
});

describe.each(nested)('$title', (call) => {
  test('finds an object only under its own parent', async () => {
    expect(await tryForeign(call, accountOf(home, call.mount), home.ids, second, below)).toBeGreaterThan(0);
  });
});

test("no call above changed another tenant's objects", async () => {
  for (const [foreign, picture] of firstPictures) expect(await snapshotOf(foreign, installation)).toBe(picture);
});
