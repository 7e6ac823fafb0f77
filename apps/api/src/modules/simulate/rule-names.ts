import type { Simulation } from '@edgeloom/contract/simulate/simulate.ts';
import type { ScopedDb } from '../../core/scope.ts';
import { pathsName } from '../../core/site-rule.ts';
import { siteRules } from '../../site-rules.ts';

type Rule = NonNullable<Simulation['steps'][number]['rule']>;
type Names = (db: ScopedDb, ids: string[]) => Promise<{ id: string; name: string }[]>;

/** How the console names a rule. */
const names: ReadonlyMap<string, Names> = new Map(
  Object.entries<Names>({
    antiReferer: async (db, ids) =>
      (await db.antiReferer.findMany({ where: { id: { in: ids } } })).map(({ id, referers, type }) => ({
        id,
        name: pathsName(referers, type),
      })),
    redirect: async (db, ids) =>
      (await db.redirect.findMany({ where: { id: { in: ids } } })).map(({ id, source }) => ({ id, name: source })),
    module: (db, ids) => db.module.findMany({ where: { id: { in: ids } }, select: { id: true, name: true } }),
    upstream: async (db, ids) =>
      (await db.upstream.findMany({ where: { id: { in: ids } } })).map(({ id, address, port }) => ({
        id,
        name: `${address}:${port}`,
      })),
    zoneList: async (db, ids) => {
      const where = { id: { in: ids }, zoneId: { not: null } };
      const chunks = await db.listSourceChunk.findMany({
        where,
        select: { id: true, source: { select: { name: true } } },
      });
      return chunks.map(({ id, source }) => ({ id, name: source.name }));
    },
    ...Object.fromEntries(siteRules.flatMap(({ ruleKind, ruleNames }) => (ruleNames ? [[ruleKind, ruleNames]] : []))),
  }),
);

/** One query per kind. Draft rules have no name yet. Lists of zones are rules only for readers who see them. */
export async function named(
  db: ScopedDb,
  steps: { rule: { kind: string; id: string } | null }[],
): Promise<(Rule | null)[]> {
  const rules = steps.flatMap(({ rule }) => rule ?? []);
  const found = await Promise.all(
    [...Map.groupBy(rules, ({ kind }) => kind)].map(async ([kind, ofKind]) =>
      ((await names.get(kind)?.(db, [...new Set(ofKind.map(({ id }) => id))])) ?? []).map(
        ({ id, name }) => [`${kind} ${id}`, name] as const,
      ),
    ),
  );
  const byRule = new Map(found.flat());
  return steps.map(({ rule }) => {
    if (rule === null) return null;
    const name = byRule.get(`${rule.kind} ${rule.id}`) ?? (rule.kind === 'errorPage' ? rule.id : null);
    return name === null && rule.kind === 'zoneList' ? null : { ...rule, name };
  });
}
