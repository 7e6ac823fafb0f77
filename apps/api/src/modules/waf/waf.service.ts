// Firewalls of sites, their rules, and exceptions that are made from requests of the log or simulated ones.
import { moduleKey } from '@edgeloom/contract/edge/documents.ts';
import {
  StoredWafSettings,
  toStored,
  wafLimits,
  WafSettings,
  type ExceptionFrom,
  type ExceptionScope,
  type RuleSwitch,
  type WafException,
  type WafInput,
} from '@edgeloom/contract/waf/waf.ts';
import type { WafExplanation } from '@edgeloom/contract/waf/explanation.ts';
import type * as z from 'zod';
import { accessLogOf } from '../../access-log/open.ts';
import { changed } from '../../core/changes.ts';
import type { Ctx } from '../../core/ctx.ts';
import { noteWeight } from '../../core/document-weight.ts';
import { fail, failAt, fieldError } from '../../core/fail.ts';
import type { ScopedTx } from '../../core/scope.ts';
import { explained } from '../logs/logs.service.ts';
import { modulesOf } from '../modules/modules.service.ts';
import { namesThat } from '../purge/purge-urls.ts';
import * as sites from '../sites/sites.service.ts';
import { suggestedScope } from './exception-scope.ts';

export const modules = modulesOf<WafSettings, z.output<typeof WafInput>>(
  'waf',
  StoredWafSettings,
  (input, { ctx, before }) => {
    // An update may have an exception that has ended, as clients send the list that they read before.
    if (before === null) assertFutureEnds(input, ctx.now());
    return toStored(WafSettings.parse(input));
  },
);

function assertFutureEnds({ exceptions }: Pick<WafSettings, 'exceptions'>, now: Date): void {
  const errorData = exceptions.flatMap((exception, i) =>
    hasEnded(exception, now) ? [fieldError(`exceptions.${i}.until`, 'past', 'the date has passed')] : [],
  );
  if (errorData.length > 0) fail('PARAMETER', { errorData });
}

const hasEnded = ({ until }: Pick<WafException, 'until'>, now: Date) =>
  until !== null && Date.parse(until) <= now.getTime();

/** Adds the exception that is suggested for what the WAF found in a request, of the log or simulated. */
export async function addException(ctx: Ctx, siteId: string, from: ExceptionFrom) {
  await sites.own(ctx.db, siteId);
  const { place, request, waf, note, domainOf } =
    'reqID' in from ? await findLogged(ctx, siteId, from) : simulatedFinding(siteId, from);
  const scope = suggestedScope(request, waf) ?? failAt(place, 'format', 'no exception can be limited to this path');
  return ctx.db.$transaction(async (tx) => {
    const { zoneId } = await sites.lock(tx, siteId);
    const module = await firewallOf(tx, siteId, await domainOf(tx), place);
    const settings = StoredWafSettings.parse(module.settings);
    const exceptions = settings.exceptions.filter((one) => !hasEnded(one, ctx.now()));
    const reply = { moduleID: module.id, name: module.name };
    const known = exceptions.find((one) => hasScope(one, scope));
    if (known) return { ...reply, exception: known, isNew: false };
    if (exceptions.length >= wafLimits.exceptions) fail('LIMIT_REACHED', { extra: { limit: wafLimits.exceptions } });
    const exception = { ...scope, until: null, note };
    await save(tx, { siteId, zoneId, id: module.id }, { ...settings, exceptions: [...exceptions, exception] });
    return { ...reply, exception, isNew: true };
  });
}

/** Removes the exceptions of a firewall that have this scope. */
export async function removeException(ctx: Ctx, siteId: string, moduleID: string, scope: ExceptionScope) {
  await change(ctx, siteId, moduleID, (settings) => {
    const exceptions = settings.exceptions.filter((one) => !hasScope(one, scope));
    if (exceptions.length === settings.exceptions.length) fail('NOT_FOUND');
    return { ...settings, exceptions };
  });
  return { moduleID };
}

/** Switches rules of a firewall on or off, and leaves its other settings as they are. */
export async function enableRules(ctx: Ctx, siteId: string, { moduleID, rules, enabled }: z.output<typeof RuleSwitch>) {
  const { disabledRules } = await change(ctx, siteId, moduleID, (settings) => {
    const others = settings.disabledRules.filter((id) => !rules.includes(id));
    const disabledRules = enabled ? others : [...others, ...new Set(rules)];
    if (disabledRules.length > wafLimits.disabledRules)
      fail('LIMIT_REACHED', { extra: { limit: wafLimits.disabledRules } });
    return { ...settings, disabledRules };
  });
  return { moduleID, disabledRules };
}

const hasScope = (one: ExceptionScope, { rule, path, parameter, host }: ExceptionScope) =>
  one.rule === rule && one.path === path && one.parameter === parameter && one.host === host;

interface Finding {
  /** The field of the call that errors name. */
  place: string;
  request: Parameters<typeof suggestedScope>[0];
  waf: WafExplanation | null;
  note: string;
  domainOf: (tx: ScopedTx) => Promise<string | null>;
}

async function findLogged(ctx: Ctx, siteId: string, { reqID }: { reqID: string }): Promise<Finding> {
  // The reply has parts of the log.
  if (!ctx.actor.permissions.has('log:read')) fail('PERMISSION_DENIED');
  const row = await accessLogOf(ctx.installation).find(ctx.db.$read, reqID);
  const waf = row && explained(row.explanation);
  if (row?.siteID !== siteId || (row.cause !== 'waf' && !waf)) return fail('NOT_FOUND');
  return { place: 'reqID', request: row, waf: waf ?? null, note: reqID, domainOf: () => Promise.resolve(row.domainID) };
}

function simulatedFinding(siteId: string, { simulated }: Extract<ExceptionFrom, { simulated: unknown }>): Finding {
  const { host, path, rule, waf } = simulated;
  const name = host.toLowerCase();
  return {
    place: 'simulated',
    request: { cause: 'waf', rule, uri: path, host: name },
    waf,
    note: '',
    async domainOf(tx) {
      const where = { siteId, enabledName: { in: namesThat(name) } };
      const domains = await tx.domain.findMany({ where, select: { id: true, enabledName: true } });
      return (domains.find(({ enabledName }) => enabledName === name) ?? domains[0])?.id ?? null;
    },
  };
}

/** The firewall that a domain has now. */
const firewallOf = async (tx: ScopedTx, siteId: string, domainId: string | null, place: string) =>
  (domainId && (await tx.module.findFirst({ where: { siteId, kind: 'waf', domains: { some: { domainId } } } }))) ||
  failAt(place, 'notFound', 'the domain has no firewall');

/** Changes the newest settings of a firewall, under the lock of its site. */
const change = ({ db }: Ctx, siteId: string, moduleID: string, to: (settings: WafSettings) => WafSettings) =>
  db.$transaction(async (tx) => {
    const { zoneId } = await sites.lock(tx, siteId);
    const module = (await tx.module.findUnique({ where: { id: moduleID, siteId, kind: 'waf' } })) ?? fail('NOT_FOUND');
    const settings = to(StoredWafSettings.parse(module.settings));
    await save(tx, { siteId, zoneId, id: moduleID }, settings);
    return settings;
  });

/** In a transaction that has locked the site, so that no other change of the firewall is lost. */
async function save(
  tx: ScopedTx,
  { siteId, zoneId, id }: { siteId: string; zoneId: string; id: string },
  settings: WafSettings,
): Promise<void> {
  await noteWeight(tx, [moduleKey(id)]);
  await tx.module.update({ where: { id, siteId }, data: { settings: toStored(settings) } });
  await changed(tx, zoneId, moduleKey(id));
}
