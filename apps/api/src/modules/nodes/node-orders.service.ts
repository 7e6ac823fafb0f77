// Commands that run on nodes at once, in parallel. The error lists all nodes that are offline, too old or reject the
// command. A command can be repeated safely, with or without the nodes that succeeded.
import { nodeKey } from '@edgeloom/contract/edge/documents.ts';
import type { CommandReply, PurgeOrder } from '@edgeloom/contract/edge/messages.ts';
import type { NodePurge } from '@edgeloom/contract/nodes/nodes.ts';
import { PurgeTag } from '@edgeloom/contract/purge/purge.ts';
import type { ErrorName } from '@edgeloom/contract/errors.ts';
import { changed } from '../../core/changes.ts';
import { orFail } from '../../core/conflict.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail, faultsByReason, failTogether } from '../../core/fail.ts';
import type { Fault } from '../../core/fail.ts';
import type { Answer, Order } from '../../node-link/commands.ts';
import { clean } from '../../node-link/incoming.ts';
import { linkOf } from '../../node-link/start.ts';
import * as preheatCaches from '../preheat-caches/preheat-caches.service.ts';
import { namesThat, prefixOf, readUrls } from '../purge/purge-urls.ts';
import * as zones from '../zones/zones.service.ts';
import { assertUnplaced, own, newToken } from './nodes.service.ts';

const JOIN_AGAIN_MS = 20_000;
const MOVE_MS = 10 * 60_000;
const EMPTYING_MS = 30_000;

interface Asked {
  id: string;
  name: string;
}
/** Why a command failed at one node, with the node's own message if it replied. */
interface Obstacle extends Fault {
  message?: string;
}

export const system = async (ctx: Ctx, id: string) =>
  (await askOne(ctx, id, 'system')).figures ?? fail('NODE_VERSION_MISMATCH');
export const running = async (ctx: Ctx, id: string) =>
  (await askOne(ctx, id, 'running')).running ?? fail('NODE_VERSION_MISMATCH');

export const rotateLogs = (ctx: Ctx, ids: string[]) => askAll(ctx, ids, [{ name: 'rotateLogs' }]);
export const reboot = (ctx: Ctx, ids: string[]) => askAll(ctx, ids, [{ name: 'reboot' }]);
export const reset = (ctx: Ctx, ids: string[]) => emptied(ctx, ids, [{ name: 'reset', isLong: true }]);
export const clearCache = (ctx: Ctx, ids: string[]) => emptied(ctx, ids, [{ name: 'clearCache', isLong: true }]);

/** A long command may continue after its reply: content fetched later is kept. */
async function emptied(ctx: Ctx, ids: string[], orders: Order[]) {
  const answer = await askAll(ctx, ids, orders);
  await preheatCaches.forget(ctx.db, ids, new Date(Date.now() + EMPTYING_MS));
  return answer;
}

/**
 * Purges the caller's own sites at these nodes only. A purge of a site goes to all nodes and is stored with receipts.
 */
export async function purge(ctx: Ctx, { ids, type, urls }: NodePurge) {
  return emptied(ctx, ids, await purges[type](ctx, urls));
}

const purgeOrder = (order: PurgeOrder): Order => ({ name: 'purge', body: order });

const purges: Record<NodePurge['type'], (ctx: Ctx, texts: string[]) => Promise<Order[]>> = {
  1: async (ctx, texts) => [purgeOrder({ urls: (await servedUrls(ctx, texts)).map(({ url }) => url.href) })],
  2: async (ctx, texts) => {
    const found = await servedUrls(ctx, texts);
    // A URL without a path gets one when parsed, but a prefix must be written in full.
    const prefixes = found.map(({ url, siteId }, i) => ({
      siteId,
      prefix: (texts[i]?.trim().endsWith('/') ? prefixOf(url) : null) ?? refuse(i, 'format'),
    }));
    return prefixOrders(prefixes);
  },
  3: async (ctx, texts) => {
    const names = texts.map((text) => text.toLowerCase());
    const sites = await sitesOf(ctx, names);
    // URLs of a wildcard domain have too many possible prefixes.
    const prefixes = names.map((name, i) => ({
      siteId: name.startsWith('*.') ? refuse(i, 'wildcard') : (sites.get(name) ?? refuse(i, 'domain')),
      prefix: `${name}/`,
    }));
    return prefixOrders(prefixes);
  },
  4: (_, texts) => {
    texts.forEach((tag, i) => PurgeTag.safeParse(tag).success || refuse(i, 'format'));
    return Promise.resolve([
      { name: 'clearCache', isLong: true, body: { tags: texts.map((tag) => tag.toLowerCase()) } },
    ]);
  },
};

const prefixOrders = (prefixes: { siteId: string; prefix: string }[]) =>
  Array.from(
    Map.groupBy(prefixes, ({ siteId }) => siteId),
    ([site, found]) => purgeOrder({ site, prefixes: found.map(({ prefix }) => prefix) }),
  );

const messages = {
  format: 'wrong format',
  domain: 'no enabled domain of yours',
  wildcard: 'a wildcard cannot be purged as a host',
};
const refuse = (i: number, rule: keyof typeof messages): never =>
  fail('PARAMETER', { errorData: [{ path: `urls.${i}`, rule, message: messages[rule] }] });

async function servedUrls(ctx: Ctx, texts: string[]) {
  const urls = readUrls(texts).map((url, i) => url ?? refuse(i, 'format'));
  const sites = await sitesOf(
    ctx,
    urls.flatMap(({ hostname }) => namesThat(hostname)),
  );
  return urls.map((url, i) => {
    const name = namesThat(url.hostname).find((one) => sites.has(one)) ?? '';
    return { url, siteId: sites.get(name) ?? refuse(i, 'domain') };
  });
}

async function sitesOf({ db }: Ctx, names: string[]): Promise<Map<string, string>> {
  const where = { enabledName: { in: [...new Set(names)] } };
  const rows = await db.domain.findMany({ where, select: { name: true, siteId: true } });
  return new Map(rows.map(({ name, siteId }) => [name, siteId]));
}

/**
 * Moves nodes to a zone by a new join, so that the zone's keys travel as in any join. Until then a node belongs to the
 * old zone; afterwards it discards that zone's data.
 */
export async function moveToZone(ctx: Ctx, ids: string[], zoneID: string) {
  const token = new Map<string, string>();
  const movers = await ctx.db.$transaction(async (tx) => {
    await zones.own(tx, zoneID);
    const nodes = (await own(tx, ids)).filter(({ zoneId }) => zoneId !== zoneID);
    await assertUnplaced(
      tx,
      nodes.map(({ id }) => id),
    );
    const names = nodes.map(({ name }) => name);
    const taken = await tx.edgeNode.findMany({
      where: { zoneId: zoneID, name: { in: names } },
      select: { name: true },
    });
    failTogether(
      [...taken.map(({ name }) => name), ...names.filter((name, i) => names.indexOf(name) !== i)].map((target) => ({
        reason: 'DUPLICATED',
        target,
      })),
    );
    for (const { id, zoneId, joinedAt } of nodes) {
      if (joinedAt === null) {
        await orFail('DUPLICATED', tx.edgeNode.update({ where: { id }, data: { zoneId: zoneID, parentId: null } }));
        await tx.edgeNode.updateMany({ where: { parentId: id }, data: { parentId: null } });
        await changed(tx, zoneId, nodeKey(id));
        await changed(tx, zoneID, nodeKey(id));
        continue;
      }
      const { token: fresh, ...joining } = newToken(ctx, MOVE_MS);
      await tx.edgeNode.update({ where: { id }, data: { ...joining, moveToZoneId: zoneID } });
      token.set(id, fresh);
    }
    return nodes.filter(({ joinedAt }) => joinedAt !== null);
  });
  const control = ctx.installation.env.PUBLIC_URL;
  const faults = await ask(ctx, movers, ({ id }) => [
    { name: 'move', body: { control, token: token.get(id) ?? '' }, waitMs: JOIN_AGAIN_MS },
  ]);
  // Only after their replies, since this closes their connections.
  await linkOf(ctx.installation)?.revoke();
  if (faults.length === 0) return { ids };
  // A node that has joined the new zone loses its connection and perhaps its reply.
  const left = await ctx.db.$transaction(async (tx) => {
    const where = { id: { in: movers.map(({ id }) => id) }, moveToZoneId: zoneID };
    const stayed = await tx.edgeNode.findMany({ where, select: { name: true } });
    await tx.edgeNode.updateMany({ where, data: { moveToZoneId: null, joinHash: null, joinEndsAt: null } });
    return new Set(stayed.map(({ name }) => name));
  });
  failWith(faults.filter(({ target }) => left.has(target)));
  return { ids };
}

async function askOne(ctx: Ctx, id: string, name: string): Promise<CommandReply> {
  const [node = fail('NOT_FOUND')] = await own(ctx.db, [id]);
  const answer = node.joinedAt === null ? 'away' : await orderOf(ctx)(id, { name });
  const reason = reasonOf(answer);
  if (reason !== null || typeof answer === 'string') fail(reason ?? 'NODE_UNREACHABLE');
  return answer;
}

async function askAll(ctx: Ctx, ids: string[], orders: Order[]) {
  failWith(await ask(ctx, await own(ctx.db, ids), () => orders));
  return { ids };
}

async function ask(ctx: Ctx, nodes: (Asked & { joinedAt: Date | null })[], ordersOf: (node: Asked) => Order[]) {
  // Not started while a node is offline, since only part of the fleet would do it.
  const states = await ctx.db.nodeState.findMany({
    where: { nodeId: { in: nodes.map(({ id }) => id) }, connectedAt: { not: null } },
    select: { nodeId: true },
  });
  const here = new Set(states.map(({ nodeId }) => nodeId));
  const away = nodes.filter(({ id, joinedAt }) => joinedAt === null || !here.has(id));
  if (away.length > 0 || nodes.length === 0)
    return away.map(({ name }): Fault => ({ reason: 'NODE_UNREACHABLE', target: name }));
  const order = orderOf(ctx);
  const answers = await Promise.all(
    nodes.map(async (node): Promise<Obstacle[]> => {
      for (const one of ordersOf(node)) {
        const answer = await order(node.id, one);
        const reason = reasonOf(answer);
        const error = typeof answer === 'string' ? null : answer.error;
        if (reason !== null)
          return [{ reason, target: node.name, ...(error !== null && { message: clean(error, 500) }) }];
      }
      return [];
    }),
  );
  return answers.flat();
}

const orderOf = ({ installation }: Ctx) => linkOf(installation)?.order ?? fail('NODE_UNREACHABLE');

/** Null: the command succeeded. */
function reasonOf(answer: Answer): ErrorName | null {
  if (answer === 'away' || answer === 'silent') return 'NODE_UNREACHABLE';
  // The node is connected but does not subscribe to the command: older agents subscribe to each command by name.
  if (answer === 'unsubscribed' || answer.unknown) return 'NODE_VERSION_MISMATCH';
  if (answer.late || answer.error === 'the deadline has passed') return 'INVALID_NODE_TIME';
  return answer.ok ? null : 'NODE_UNREACHABLE';
}

/** A single fault is returned as the error itself. */
function failWith(faults: Obstacle[]) {
  const [first, ...more] = faults;
  const reasons = Object.fromEntries(
    faults.flatMap(({ target, message }) => (message === undefined ? [] : [[target, message]])),
  );
  if (first && more.length === 0) fail(first.reason, { errorData: faultsByReason(faults), extra: { reasons } });
  failTogether(faults);
}
