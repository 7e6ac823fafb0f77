import type { Paging } from '@edgeloom/contract/common/common.ts';
import { CodedMessageOrNull } from '@edgeloom/contract/rollouts/messages.ts';
import type { VersionSearch } from '@edgeloom/contract/versions/versions.ts';
import { changesBetween } from '@edgeloom/contract/zone-settings/changes.ts';
import type { SnippetPart } from '@edgeloom/contract/zone-settings/directive-allowlist.ts';
import {
  SwitchName,
  VersionState,
  type AllSettings,
  type ConfigDifference,
  type ConfigDraft,
  type ConfigPreview,
  type Resource,
  type SwitchInput,
  type ZoneContent,
  type ZoneSwitch,
  type ZoneVersion,
} from '@edgeloom/contract/zone-settings/zone-settings.ts';
import type { ZoneAntiCC } from '@edgeloom/contract/zone-anti-cc/zone-anti-cc.ts';
import type { FirewallLevels, ZoneFirewall } from '@edgeloom/contract/zone-firewall/zone-firewall.ts';
import { changed } from '../../core/changes.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail, failAt, fieldError } from '../../core/fail.ts';
import type { ScopedTx } from '../../core/scope.ts';
import { releasesIn } from '../../releases/store.ts';
import { versionAt } from '../../rollouts/release-rollout.ts';
import { shownFiles } from '../../nginx-jail/shown-files.ts';
import { drafted, settingsOf } from '../../zone-settings/zone-content.ts';
import { portsOf, restorePorts } from '../zones/zone-ports.service.ts';
import * as zones from '../zones/zones.service.ts';
import { assertSound, check, docOf } from './snippet-check.ts';
import { change, contentIn, isNoticed, readContent } from './zone-changes.service.ts';

export async function get({ db }: Ctx, zoneId: string): Promise<AllSettings> {
  await zones.own(db, zoneId);
  const [content, ports, { data: switches }, newest, last, of] = await Promise.all([
    readContent(db, zoneId),
    portsOf(db, zoneId),
    readSwitches(db, zoneId),
    db.zoneVersion.findFirst({ where: { zoneId, state: { in: ['live', 'trial'] } }, orderBy: { version: 'desc' } }),
    db.zoneVersion.findFirst({ where: { zoneId }, orderBy: { version: 'desc' } }),
    db.edgeNode.count({ where: { zoneId, joinedAt: { not: null }, enabled: true } }),
  ]);
  const trial =
    newest?.state === 'trial'
      ? { version: newest.version, nodes: newest.nodes.length, of, since: newest.createdAt }
      : null;
  const withdrawn =
    last?.state === 'withdrawn'
      ? {
          version: last.version,
          settledAt: last.settledAt,
          message: last.note,
          messageCode: CodedMessageOrNull.parse(last.messageCode),
        }
      : null;
  const { version = 0, author = '', createdAt: changedAt = null } = newest ?? {};
  return { ...content, ports, switches, version, author, changedAt, trial, withdrawn };
}

/** Writes settings. The result is checked before anything is stored. */
export async function set(
  ctx: Ctx,
  zoneId: string,
  reason: string,
  draft: ConfigDraft,
  pathOf: (part: SnippetPart) => string = (part) => part,
): Promise<AllSettings> {
  await zones.own(ctx.db, zoneId);
  // Outside the transaction, since nginx takes a moment and others must not wait for the locks.
  if (draft.nginx) await assertSound(ctx, drafted(await readContent(ctx.db, zoneId), draft), pathOf);
  await change(ctx, {
    zoneId,
    reason,
    work: async (tx, before) => {
      const after = drafted(before, draft);
      if (draft.visitorAddress?.proxyProtocolPorts) assertOpened(after);
      const data = { settings: settingsOf(after), forceSslRedirectCode: after.forceSSLRedirectCode };
      await tx.zone.update({ where: { id: zoneId }, data });
    },
  });
  return get(ctx, zoneId);
}

/** Fails with each port that is not the zone's. */
function assertOpened({ visitorAddress: { proxyProtocolPorts }, ports }: ZoneContent): void {
  const errorData = proxyProtocolPorts.flatMap((port, i) =>
    ports.some((one) => one.port === port)
      ? []
      : [fieldError(`visitorAddress.proxyProtocolPorts.${i}`, 'notFound', 'the zone does not open this port')],
  );
  if (errorData.length > 0) fail('PARAMETER', { errorData });
}

export const setHttp2 = (ctx: Ctx, zoneId: string, { enable, reason }: { enable: boolean; reason: string }) =>
  set(ctx, zoneId, reason, { http2: enable });
export const setHttp3 = (ctx: Ctx, zoneId: string, { enable, reason }: { enable: boolean; reason: string }) =>
  set(ctx, zoneId, reason, { http3: enable });
export const setSoak = (ctx: Ctx, zoneId: string, { reason, ...rest }: { soakSeconds: number; reason: string }) =>
  set(ctx, zoneId, reason, rest);
export const setResource = (ctx: Ctx, zoneId: string, { reason, ...resource }: Resource & { reason: string }) =>
  set(ctx, zoneId, reason, { resource });
export const setFirewall = (ctx: Ctx, zoneId: string, { reason, ...firewall }: ZoneFirewall & { reason: string }) =>
  set(ctx, zoneId, reason, { firewall });
export const setAntiCC = (ctx: Ctx, zoneId: string, { reason, ...antiCC }: ZoneAntiCC & { reason: string }) =>
  set(ctx, zoneId, reason, { antiCC });
export const setNginx = (
  ctx: Ctx,
  zoneId: string,
  { reason, ...nginx }: NonNullable<ConfigDraft['nginx']> & { reason: string },
) => set(ctx, zoneId, reason, { nginx });
export const setPart = (
  ctx: Ctx,
  zoneId: string,
  part: SnippetPart,
  { reason, content }: { content: string; reason: string },
) => set(ctx, zoneId, reason, { nginx: { [part]: content } }, () => 'content');

export async function resource({ db }: Ctx, zoneId: string): Promise<Resource> {
  await zones.own(db, zoneId);
  return (await readContent(db, zoneId)).resource;
}

export async function firewall({ db }: Ctx, zoneId: string): Promise<ZoneFirewall> {
  await zones.own(db, zoneId);
  return (await readContent(db, zoneId)).firewall;
}

/** Reads the levels from signed documents, without asking nodes or reading the data pack. */
export async function firewallLevels({ db, installation }: Ctx, zoneId: string): Promise<FirewallLevels> {
  await zones.own(db, zoneId);
  const [states, { releases }] = await Promise.all([
    db.nodeState.findMany({
      where: { node: { zoneId, joinedAt: { not: null }, kind: 'edge' } },
      select: { version: true, packs: true },
    }),
    releasesIn(installation.env),
  ]);
  const packs = releases.map(({ manifest }) => manifest).filter(({ product }) => product === 'risk');
  const having = Map.groupBy(states, (state) => versionAt(state, 'risk'));
  having.delete('');
  const [most] = [...having].toSorted(([, a], [, b]) => b.length - a.length);
  const version = most?.[0] ?? null;
  return {
    version,
    nodes: most?.[1].length ?? 0,
    of: states.length,
    levels: packs.find((pack) => pack.version === version)?.levels ?? null,
    newest: packs[0]?.version ?? null,
  };
}

export async function antiCC({ db }: Ctx, zoneId: string): Promise<ZoneAntiCC> {
  await zones.own(db, zoneId);
  return (await readContent(db, zoneId)).antiCC;
}

export async function part({ db }: Ctx, zoneId: string, name: SnippetPart) {
  await zones.own(db, zoneId);
  return { content: (await readContent(db, zoneId)).nginx[name] };
}

export async function preview(ctx: Ctx, zoneId: string, draft: ConfigDraft): Promise<ConfigPreview> {
  await zones.own(ctx.db, zoneId);
  return previewChange(ctx, zoneId, (before) => {
    const after = drafted(before, draft);
    if (draft.visitorAddress?.proxyProtocolPorts) assertOpened(after);
    return after;
  });
}

export async function previewRollback(ctx: Ctx, zoneId: string, version: number): Promise<ConfigPreview> {
  await zones.own(ctx.db, zoneId);
  const content = contentIn(await ownVersion(ctx, zoneId, version));
  return previewChange(ctx, zoneId, () => content);
}

/** Compares with the previous version unless one is named; the oldest stored version differs from nothing. */
export async function compare(
  ctx: Ctx,
  zoneId: string,
  version: number,
  against: number | undefined,
): Promise<ConfigDifference> {
  await zones.own(ctx.db, zoneId);
  const newer = await ownVersion(ctx, zoneId, version);
  const older = await (against === undefined
    ? ctx.db.zoneVersion.findFirst({ where: { zoneId, version: { lt: version } }, orderBy: { version: 'desc' } })
    : ownVersion(ctx, zoneId, against));
  const [before, after] = [contentIn(older ?? newer), contentIn(newer)];
  return { changes: changesBetween(before, after), files: shownFiles(docOf(before), docOf(after)) };
}

async function previewChange(
  ctx: Ctx,
  zoneId: string,
  change: (before: ZoneContent) => ZoneContent,
): Promise<ConfigPreview> {
  const { db } = ctx;
  const before = await readContent(db, zoneId);
  const after = change(before);
  const { faults, checks } = await check(ctx, after);
  const files = faults.length > 0 ? [] : shownFiles(docOf(before), docOf(after));
  const live = await db.zoneVersion.findFirst({ where: { zoneId, state: 'live' } });
  const nodes = isNoticed(live ? contentIn(live) : before, after)
    ? await db.edgeNode.count({ where: { zoneId, joinedAt: { not: null }, enabled: true } })
    : 0;
  return { changes: changesBetween(before, after), faults, checks, reload: files.length > 0, nodes, files };
}

const ownVersion = async ({ db }: Ctx, zoneId: string, version: number) =>
  (await db.zoneVersion.findUnique({ where: { zoneId_version: { zoneId, version } } })) ?? fail('NOT_FOUND');

export async function versions({ db }: Ctx, zoneId: string, { page, pageSize, orderBy }: Paging<'version'>) {
  await zones.own(db, zoneId);
  const found = await db.zoneVersion.findMany({
    where: { zoneId },
    orderBy: { version: orderBy },
    skip: (page - 1) * pageSize,
    take: pageSize,
  });
  // The oldest version of the page needs its predecessor as well.
  const oldest = Math.min(...found.map(({ version }) => version));
  const one =
    found.length === 0
      ? null
      : await db.zoneVersion.findFirst({ where: { zoneId, version: { lt: oldest } }, orderBy: { version: 'desc' } });
  const byVersion = [...found, ...(one ? [one] : [])].toSorted((a, b) => a.version - b.version);
  const data = found.map((row): ZoneVersion => {
    const previous = byVersion[byVersion.indexOf(row) - 1];
    const { id, version, author, reason, note, createdAt, settledAt } = row;
    const changes = previous ? changesBetween(contentIn(previous), contentIn(row)) : [];
    const state = VersionState.parse(row.state);
    const messageCode = CodedMessageOrNull.parse(row.messageCode);
    return { id, version, state, author, reason, note, messageCode, changes, createdAt, settledAt };
  });
  return { data, total: await db.zoneVersion.count({ where: { zoneId } }) };
}

/** Numbers are compared as text, so that `12` finds 120 as well. */
export async function metaVersions({ db }: Ctx, zoneId: string, { keyword, ids, page, pageSize }: VersionSearch) {
  await zones.own(db, zoneId);
  const rows = await db.zoneVersion.findMany({
    where: { zoneId, ...(ids && { version: { in: ids } }) },
    select: { version: true, author: true, reason: true, createdAt: true },
    orderBy: { version: 'desc' },
  });
  const wanted = keyword?.toLowerCase();
  const found = rows.filter(
    ({ version, author, reason }) =>
      wanted === undefined ||
      String(version).startsWith(wanted) ||
      [author, reason].some((text) => text.toLowerCase().includes(wanted)),
  );
  // The whole number comes before those that only begin with it.
  const data = found
    .toSorted((a, b) => Number(String(b.version) === wanted) - Number(String(a.version) === wanted))
    .slice((page - 1) * pageSize, page * pageSize)
    .map(({ version, author, createdAt }) => ({ id: String(version), name: author, at: createdAt }));
  return { data, total: found.length };
}

export async function rollback(ctx: Ctx, zoneId: string, version: number, reason: string): Promise<AllSettings> {
  await zones.own(ctx.db, zoneId);
  const content = contentIn(await ownVersion(ctx, zoneId, version));
  // The allowed directives and nginx may have changed since this version.
  await assertSound(ctx, content, (part) => part);
  await change(ctx, {
    zoneId,
    reason,
    work: async (tx) => {
      await restorePorts(tx, zoneId, content.ports);
      await tx.zone.update({
        where: { id: zoneId },
        data: { settings: settingsOf(content), forceSslRedirectCode: content.forceSSLRedirectCode },
      });
    },
  });
  return get(ctx, zoneId);
}

export async function switches({ db }: Ctx, zoneId: string) {
  await zones.own(db, zoneId);
  return readSwitches(db, zoneId);
}

async function readSwitches(db: ScopedTx, zoneId: string): Promise<{ data: ZoneSwitch[] }> {
  const found = await db.zoneSwitch.findMany({
    where: { zoneId, OR: [{ until: null }, { until: { gt: new Date() } }] },
  });
  return {
    data: SwitchName.options.map((name) => {
      const row = found.find((one) => one.name === name);
      if (!row) return { name, off: false, reason: '', author: '', until: null, since: null };
      return { name, off: true, reason: row.reason, author: row.author, until: row.until, since: row.createdAt };
    }),
  };
}

/** Sends the switch to all nodes at once, without waves. */
export const setSwitch = ({ db, actor, now }: Ctx, zoneId: string, { name, off, reason, until }: SwitchInput) =>
  db.$transaction(async (tx) => {
    // Locks by writing first: of two concurrent calls the later one counts, and neither fails.
    await tx.zone.update({ where: { id: zoneId }, data: { updatedAt: now() }, select: { id: true } });
    if (until !== null && until <= now()) failAt('until', 'future', 'that moment has passed');
    await tx.zoneSwitch.deleteMany({ where: { zoneId, name } });
    if (off) await tx.zoneSwitch.create({ data: { zoneId, name, reason, until, author: actor.name } });
    await changed(tx, zoneId, 'zone');
    return readSwitches(tx, zoneId);
  });
