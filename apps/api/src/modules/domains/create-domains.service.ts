// Adds up to a thousand domains in one call, in a fixed number of statements, all or none. Reports every faulty line at
// once.
import { randomUUIDv7 } from 'node:crypto';
import type * as z from 'zod';
import { DomainName } from '@edgeloom/contract/common/net.ts';
import {
  PortMap,
  type CloneInput,
  type CopyInput,
  type DomainInput,
  type SimpleDomainsInput,
  type UpstreamInput,
} from '@edgeloom/contract/domains/domains.ts';
import { hostKey, siteKey } from '@edgeloom/contract/edge/documents.ts';
import { errors } from '@edgeloom/contract/errors.ts';
import { changed } from '../../core/changes.ts';
import type { Ctx } from '../../core/ctx.ts';
import { enabledAnywhere, isPublicSuffix, openProofs, unprovenNames } from '../../core/enabled-names.ts';
import { fail, Failure, fieldError, type Fault, type FieldError } from '../../core/fail.ts';
import { SQL_NULL } from '../../core/json-null.ts';
import { originSettingsOf } from '../../core/origin-settings.ts';
import { originFault, type OriginSettings } from '../../core/outbound.ts';
import { inAgeOrder } from '../../core/rule-list.ts';
import type { Prisma } from '../../generated/client.ts';
import { limitsOf } from '../sites/limits.ts';
import * as sites from '../sites/sites.service.ts';
import { openPorts } from '../ports/site-ports.service.ts';
import { assertUnlocked, failOnce, orTaken } from './domains.service.ts';

/** Fields of a rule that are not copied to a new rule. */
const ofItsOwn = { id: true, siteId: true, domainId: true, createdAt: true, updatedAt: true } as const;

/** The settings of a domain, without its name, status and position. */
const settings = {
  tags: true,
  scheme: true,
  portMap: true,
  hostReplace: true,
  sni: true,
  originVerify: true,
  slowStartSeconds: true,
  healthCheck: true,
  hashType: true,
  maxFails: true,
  failTimeoutSeconds: true,
  connectTimeoutSeconds: true,
  readTimeoutSeconds: true,
  websocketTimeoutSeconds: true,
  forceSsl: true,
  minTls: true,
  hstsMaxAgeSeconds: true,
  hstsIncludeSubdomains: true,
  hstsPreload: true,
  upstreams: { select: { address: true, port: true, weight: true, backup: true, enabled: true } },
  antiReferers: { omit: ofItsOwn, orderBy: { id: 'asc' } },
  antiHeaders: { omit: ofItsOwn, orderBy: { id: 'asc' } },
} satisfies Prisma.DomainSelect;

interface New extends Pick<DomainInput, 'name' | 'enabled' | 'upstreams' | 'portMap'> {
  /** Other columns with values that differ from their defaults. */
  columns: Omit<Prisma.DomainCreateManyInput, 'siteId' | 'name' | 'enabled' | 'portMap'>;
  antiReferers?: Likeness['antiReferers'];
  antiHeaders?: Likeness['antiHeaders'];
  modules?: { kind: string; moduleId: string }[];
}
type ReadyDomain = New & { enabled: boolean };
type Likeness = Prisma.DomainGetPayload<{ select: typeof settings }>;

export async function create(ctx: Ctx, siteId: string, domains: DomainInput[]) {
  const allowed = await originSettingsOf(ctx);
  const faults = domains.flatMap(({ upstreams, scheme, portMap }, i) => [
    ...originFaults(allowed, upstreams, `domains.${i}.upstreams`),
    ...followFaults(scheme, portMap, `domains.${i}.portMap`),
  ]);
  if (faults.length > 0) fail('PARAMETER', { errorData: faults });
  return insert(
    ctx,
    siteId,
    domains.map(({ name, enabled, upstreams, portMap, ...columns }) => ({
      name,
      enabled,
      upstreams,
      portMap,
      columns,
    })),
  );
}

/** One origin template for many names. */
export async function createSimple(ctx: Ctx, siteId: string, { names, ...template }: SimpleDomainsInput) {
  const { upstreams, scheme, portMap } = template;
  const allowed = await originSettingsOf(ctx);
  const faults = [...originFaults(allowed, upstreams, 'upstreams'), ...followFaults(scheme, portMap, 'portMap')];
  const lines = misnamed(names, faults);
  return insert(
    ctx,
    siteId,
    names.map((name) => ({ name, upstreams, portMap, columns: { scheme } })),
    lines,
  );
}

/** New domains with all settings of an existing one. */
export async function createFrom(ctx: Ctx, siteId: string, { sourceDomainID, names }: z.output<typeof CloneInput>) {
  const select = { ...settings, originCertificateId: true, modules: { select: { kind: true, moduleId: true } } };
  const source = await ctx.db.domain.findFirst({ where: { id: sourceDomainID, siteId }, select });
  if (!source) fail('NOT_FOUND');
  const lines = misnamed(names);
  return insert(
    ctx,
    siteId,
    names.map((name) => likeness(name, undefined, source)),
    lines,
  );
}

/** Copies to another site of the caller. The copies are disabled, since a name may be enabled only once. */
export async function copyToSite(ctx: Ctx, siteId: string, { ids, targetSiteID }: z.output<typeof CopyInput>) {
  const rows = await ctx.db.domain.findMany({
    where: { siteId, id: { in: ids } },
    select: { ...settings, name: true },
    orderBy: { name: 'asc' },
  });
  if (rows.length !== new Set(ids).size) fail('NOT_FOUND');
  return insert(
    ctx,
    targetSiteID,
    rows.map(({ name, ...row }) => likeness(name, false, row)),
  );
}

const likeness = (
  name: string,
  enabled: boolean | undefined,
  { upstreams, portMap, healthCheck, antiReferers, antiHeaders, modules, ...columns }: Likeness & Pick<New, 'modules'>,
): New => ({
  name,
  enabled,
  upstreams,
  portMap: PortMap.parse(portMap),
  antiReferers,
  antiHeaders,
  ...(modules && { modules }),
  columns: { ...columns, healthCheck: healthCheck ?? SQL_NULL },
});

/** Errors for lines that are not domain names. Returned together with `faults`; a single line fails on its own. */
function misnamed(names: string[], faults: FieldError[] = []): Fault[] {
  const lines = names.flatMap((name, i) => {
    const { success, error } = DomainName.safeParse(name);
    if (success) return [];
    const message = error.issues[0]?.message ?? 'wrong format';
    return [{ target: name, error: fieldError(`names.${i}`, 'format', message) }];
  });
  if (faults.length > 0 || (lines.length > 0 && names.length === 1))
    fail('PARAMETER', { errorData: [...faults, ...lines.map((line) => line.error)] });
  return lines.map(({ target, error: { rule, message } }) => ({ reason: 'PARAMETER', target, rule, message }));
}

/** The errors that creating these domains would return, checked while the list is typed. */
export async function refusals({ db, installation, actor }: Ctx, siteId: string, names: string[]) {
  await sites.own(db, siteId);
  const present = await db.domain.findMany({ where: { siteId, name: { in: names } }, select: { name: true } });
  const here = new Set(present.map(({ name }) => name));
  const taken = await enabledAnywhere(
    installation,
    actor.clientId,
    names.filter((name) => !here.has(name)),
  );
  return {
    data: [
      ...[...here].map((name) => ({ name, code: errors.DUPLICATED.code })),
      ...[...taken].map((name) => ({ name, code: errors.DOMAIN_TAKEN.code })),
      ...names
        .filter(isPublicSuffix)
        .map((name) => ({ name, code: errors.PUBLIC_SUFFIX.code, rule: errors.PUBLIC_SUFFIX.rule })),
    ],
  };
}

/** Names that need a proof of ownership are added disabled. */
async function insert(ctx: Ctx, siteId: string, added: New[], known: Fault[] = []) {
  const site = await sites.own(ctx.db, siteId);
  assertUnlocked(ctx, site);
  const domains = added.map((domain) => ({ ...domain, enabled: domain.enabled ?? site.product.newDomainsEnabled }));
  const names = domains.filter(({ enabled }) => enabled).map(({ name }) => name);
  const add = async () => {
    const unproven = await unprovenNames(ctx.installation, siteId, names);
    const ready = domains.map((domain) => ({ ...domain, enabled: domain.enabled && !unproven.has(domain.name) }));
    const { ids } = await insertReady(ctx, siteId, ready, unproven, known);
    await openProofs(ctx.installation, siteId, [...unproven]);
    return { ids, waiting: [...unproven] };
  };
  try {
    return await add();
  } catch (error) {
    // Another customer added an overlapping name at the same moment.
    if (error instanceof Failure && error.reason === 'NAME_UNPROVEN') return await add();
    throw error;
  }
}

async function insertReady(ctx: Ctx, siteId: string, domains: ReadyDomain[], unproven: Set<string>, known: Fault[]) {
  const names = domains.map(({ name }) => name);
  const taken = await enabledAnywhere(
    ctx.installation,
    ctx.actor.clientId,
    domains.filter(({ enabled, name }) => enabled || unproven.has(name)).map(({ name }) => name),
  );
  return ctx.db.$transaction(async (tx) => {
    // Locks the site, so that concurrent lists cannot both use the last free places.
    const site = await sites.lock(tx, siteId);
    const limit = limitsOf(site).domainLimit;
    if (limit > 0 && (await tx.domain.count({ where: { siteId } })) + domains.length > limit)
      fail('DOMAIN_LIMIT', { extra: { limit } });
    const present = await tx.domain.findMany({ where: { siteId, name: { in: names } }, select: { name: true } });
    const here = new Set(present.map(({ name }) => name));
    const open = await openPorts(tx, site);

    const seen = new Set<string>();
    const faults: Fault[] = [...known];
    for (const { name, upstreams, portMap } of domains) {
      const blame = (reason: Fault['reason'], values?: Fault['values']) =>
        faults.push({ reason, target: name, ...(values && { values }) });
      if (seen.has(name) || here.has(name)) blame('DUPLICATED');
      else if (taken.has(name)) blame('DOMAIN_TAKEN');
      else if (isPublicSuffix(name)) blame('PUBLIC_SUFFIX');
      if (!upstreams.some(({ enabled }) => enabled)) blame('NO_ENABLED_UPSTREAM');
      const missing = portMap.find(({ from }) => !open.has(from));
      if (missing && domains.length === 1) fail('ILLEGAL_PORT_MAP', { extra: { port: missing.from } });
      if (missing) blame('ILLEGAL_PORT_MAP', { port: missing.from });
      seen.add(name);
    }
    failOnce(faults, domains.length);

    const rows = domains.map((domain) => ({ id: randomUUIDv7(), ...domain }));
    await orTaken(
      tx.domain.createMany({
        data: rows.map(({ id, name, enabled, portMap, columns }) => ({
          ...columns,
          id,
          siteId,
          name,
          enabled,
          portMap,
        })),
      }),
    );
    await tx.upstream.createMany({
      data: rows.flatMap(({ id, upstreams }) => upstreams.map((upstream) => ({ ...upstream, domainId: id, siteId }))),
    });
    const rulesOf = <Rule>(list: (row: New) => Rule[] | undefined) =>
      inAgeOrder(rows.flatMap((row) => list(row)?.map((rule) => ({ ...rule, siteId, domainId: row.id })) ?? []));
    await tx.antiReferer.createMany({ data: rulesOf(({ antiReferers }) => antiReferers) });
    await tx.antiHeader.createMany({ data: rulesOf(({ antiHeaders }) => antiHeaders) });
    await tx.domainModule.createMany({
      data: rows.flatMap(({ id, modules = [] }) => modules.map((module) => ({ ...module, domainId: id }))),
    });
    const enabled = rows.filter((row) => row.enabled);
    await changed(
      tx,
      site.zoneId,
      ...enabled.map(({ name }) => hostKey(name)),
      ...(enabled.length > 0 ? [siteKey(siteId)] : []),
    );
    await tx.$license.assertRoom('domains');
    return { ids: rows.map(({ id }) => id) };
  });
}

/** Errors for origins that the policy for outbound calls forbids, at their fields. */
export const originFaults = (
  settings: OriginSettings,
  upstreams: readonly Pick<UpstreamInput, 'address'>[],
  path: string,
) =>
  upstreams.flatMap(({ address }, i) => {
    const message = originFault(address, settings);
    return message === null ? [] : [fieldError(`${path}.${i}.address`, 'forbidden', message)];
  });

/** With "follow" the origin uses the visitor's port, so the map needs a port of that scheme. */
const followFaults = (scheme: DomainInput['scheme'], portMap: New['portMap'], path: string) =>
  scheme === 'follow' && portMap.length === 0 ? [fieldError(path, 'required', 'required')] : [];
