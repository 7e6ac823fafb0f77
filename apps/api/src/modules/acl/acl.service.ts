// Modules of access rules. Their rules are stored in the module's settings, in order.
import { randomUUIDv7 } from 'node:crypto';
import {
  ACL_PATTERNS_OF_A_SITE,
  ACL_RULES_OF_A_MODULE,
  PATTERNS_OF_A_MODULE,
  AclSettings,
  defaultLimitMode,
  type AclCopyInput,
  type AclRule,
  type AclRuleInput,
  type AclSearchInput,
} from '@edgeloom/contract/acl/acl.ts';
import { moduleKey } from '@edgeloom/contract/edge/documents.ts';
import * as z from 'zod';
import { changed } from '../../core/changes.ts';
import type { Ctx } from '../../core/ctx.ts';
import { noteWeight } from '../../core/document-weight.ts';
import { fail } from '../../core/fail.ts';
import type { ScopedTx } from '../../core/scope.ts';
import { andAll, sql } from '../../core/sql.ts';
import { modulesOf } from '../modules/modules.service.ts';
import * as sites from '../sites/sites.service.ts';

export interface InModule {
  siteId: string;
  moduleId: string;
}

export const settled = (input: AclRuleInput, id: string = randomUUIDv7()): AclRule => ({
  ...input,
  id,
  limitMode: input.limitMode ?? defaultLimitMode(input),
});

type RulesInput = { rules?: (AclRuleInput & { id?: string | undefined })[] | undefined };

export const modules = modulesOf<AclSettings, RulesInput>('acl', AclSettings, settle, assertPatternsFit);

function settle({ rules }: RulesInput, { before }: { before: unknown }) {
  const known = before ? AclSettings.parse(before).rules : [];
  if (!rules) return { rules: known };
  const ids = rules.flatMap(({ id }) => id ?? []);
  if (new Set(ids).size !== ids.length || ids.some((id) => !known.some((rule) => rule.id === id))) fail('NOT_FOUND');
  assertDisabled(known.filter(({ id }) => !ids.includes(id)));
  return { rules: rules.map(({ id, ...rule }) => settled(rule, id)) };
}

/** Workers cache compiled patterns, so each set and each site has a share of the cache. */
async function assertPatternsFit(tx: ScopedTx, siteId: string) {
  const rows = await tx.module.findMany({ where: { siteId, kind: 'acl' }, select: { settings: true } });
  const counts = rows.map(({ settings }) => AclSettings.parse(settings).rules.reduce(addPatterns, 0));
  if (counts.some((count) => count > PATTERNS_OF_A_MODULE))
    fail('LIMIT_REACHED', { extra: { limit: PATTERNS_OF_A_MODULE } });
  if (counts.reduce((sum, count) => sum + count, 0) > ACL_PATTERNS_OF_A_SITE)
    fail('LIMIT_REACHED', { extra: { limit: ACL_PATTERNS_OF_A_SITE } });
}
const addPatterns = (sum: number, { conditions }: AclRule) =>
  sum + conditions.filter(({ operator }) => operator === 'matches').length;

export function assertDisabled(removed: readonly AclRule[]) {
  const enabled = removed.filter((rule) => rule.enabled).map(({ name }) => name);
  if (enabled.length > 0) fail('STILL_ENABLED', { errorData: [{ rule: 'enabled', targets: enabled }] });
}

/** Changes the rules of a module under the lock of its site. */
export const editRules = <T>({ db }: Ctx, at: InModule, edit: (rules: AclRule[]) => { rules: AclRule[]; reply: T }) =>
  db.$transaction(async (tx) => {
    const { zoneId } = await sites.lock(tx, at.siteId);
    const reply = await write(tx, at, edit);
    await changed(tx, zoneId, moduleKey(at.moduleId));
    return reply;
  });

async function write<T>(tx: ScopedTx, at: InModule, edit: (rules: AclRule[]) => { rules: AclRule[]; reply: T }) {
  const { settings } = await own(tx, at);
  await noteWeight(tx, [moduleKey(at.moduleId)]);
  const { rules, reply } = edit(AclSettings.parse(settings).rules);
  if (rules.length > ACL_RULES_OF_A_MODULE) fail('LIMIT_REACHED', { extra: { limit: ACL_RULES_OF_A_MODULE } });
  await tx.module.update({ where: { id: at.moduleId, siteId: at.siteId }, data: { settings: { rules } } });
  if (rules.reduce(addPatterns, 0) > 0) await assertPatternsFit(tx, at.siteId);
  return reply;
}

export const own = async (db: Ctx['db'] | ScopedTx, { siteId, moduleId }: InModule) =>
  (await db.module.findUnique({ where: { id: moduleId, siteId, kind: 'acl' } })) ?? fail('NOT_FOUND');

/** Appends rules to modules of sites, atomically. */
export const copy = (ctx: Ctx, siteId: string, { moduleID, ids, targets }: AclCopyInput) =>
  ctx.db.$transaction(async (tx) => {
    const { settings } = await own(tx, { siteId, moduleId: moduleID });
    const copied = AclSettings.parse(settings).rules.filter(({ id }) => ids.includes(id));
    if (copied.length !== new Set(ids).size) fail('NOT_FOUND');
    // In one order, so that concurrent copies cannot deadlock.
    const siteIDs = [...new Set(targets.map((target) => target.siteID))].toSorted();
    for (const target of siteIDs) {
      const { zoneId } = await sites.lock(tx, target);
      const modulesThere = targets.filter(({ siteID }) => siteID === target).map((one) => one.moduleID);
      for (const moduleId of modulesThere)
        await write(tx, { siteId: target, moduleId }, (rules) => ({
          rules: [...rules, ...copied.map((rule) => ({ ...rule, id: randomUUIDv7() }))],
          reply: null,
        }));
      await changed(tx, zoneId, ...modulesThere.map(moduleKey));
    }
    return { siteIDs };
  });

const MOST_FOUND = 200;
const Found = z.object({ moduleID: z.string(), moduleName: z.string(), rule: AclSettings.shape.rules.element });

export async function search({ db }: Ctx, siteId: string, { field, value, action }: AclSearchInput) {
  await sites.own(db, siteId);
  const text = value?.toLowerCase();
  const ofCondition = andAll([
    field !== undefined && sql`c->>'field' = ${field}`,
    text !== undefined && sql`strpos(lower(c->>'value'), ${text}) > 0`,
  ]);
  const matching = sql`EXISTS (SELECT 1 FROM jsonb_array_elements(r.rule->'conditions') c WHERE true${ofCondition})`;
  const rows = await db.$read<{ moduleID: string; moduleName: string; rule: unknown; total: number }>(
    ({ site }) => sql`SELECT m.id AS "moduleID", m.name AS "moduleName", r.rule, count(*) OVER ()::int AS total
      FROM modules m JOIN sites s ON s.id = m.site_id,
        jsonb_array_elements(m.settings->'rules') WITH ORDINALITY AS r(rule, n)
      WHERE m.site_id = ${siteId} AND m.kind = 'acl' AND ${site}${andAll([
        action !== undefined && sql`r.rule->>'action' = ${action}`,
        text === undefined ? matching : sql`(${matching}${orNamed(text, field)})`,
      ])} ORDER BY m.name, m.id, r.n LIMIT ${MOST_FOUND}`,
  );
  return { data: rows.map((row) => Found.parse(row)), total: rows[0]?.total ?? 0 };
}

/** The name is searched only in queries without a field. */
const orNamed = (text: string, field: string | undefined) =>
  field === undefined ? sql` OR strpos(lower(r.rule->>'name'), ${text}) > 0` : sql``;

/** Whether a domain of the site uses access rules. */
export async function exists({ db }: Ctx, siteId: string) {
  await sites.own(db, siteId);
  return { exists: (await db.module.count({ where: { siteId, kind: 'acl', domains: { some: {} } } })) > 0 };
}
