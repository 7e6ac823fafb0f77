// The redirects of a module. They are checked together: duplicates and redirect loops are refused with their line.
import type { Paging } from '@edgeloom/contract/common/common.ts';
import { moduleKey } from '@edgeloom/contract/edge/documents.ts';
import { keyOfSource, readSource } from '@edgeloom/contract/modules/redirect-rules.ts';
import { leadsInCircles, redirectTable, type RedirectRule } from '@edgeloom/contract/modules/redirect-table.ts';
import {
  RedirectCode,
  RedirectInput,
  REDIRECTS_OF_A_SITE,
  RedirectType,
  type Redirect,
  type RedirectUpdate,
  type ReplaceInput,
} from '@edgeloom/contract/modules/redirects.ts';
import { changed } from '../../core/changes.ts';
import type { Ctx } from '../../core/ctx.ts';
import { noteWeight } from '../../core/document-weight.ts';
import { fail, failAt, type Fault } from '../../core/fail.ts';
import { containing, pageOf } from '../../core/page.ts';
import { inAgeOrder } from '../../core/rule-list.ts';
import type { ScopedTx } from '../../core/scope.ts';
import type { Prisma, Redirect as Row } from '../../generated/client.ts';
import { failOnce } from '../domains/domains.service.ts';
import * as sites from '../sites/sites.service.ts';

export interface InModule {
  siteId: string;
  moduleId: string;
}
interface Filter {
  keyword?: string | undefined;
  types?: string[] | undefined;
  enabled?: boolean | undefined;
}

/** Characters. All redirects of a module are one document. */
const MOST_TEXT = 1_000_000;
/** The edge tries patterns one after the other. Its MOST_PATTERN_RUNS (url_redirect.lua) depends on this number. */
const MOST_PATTERNS = 100;

export async function list(
  { db }: Ctx,
  { siteId, moduleId }: InModule,
  { keyword, types, enabled, ...paging }: Paging<'createdAt' | 'source' | 'target' | 'priority' | 'updatedAt'> & Filter,
) {
  await own(db, { siteId, moduleId });
  const where: Prisma.RedirectWhereInput = {
    moduleId,
    ...(types && { type: { in: types } }),
    ...(enabled !== undefined && { enabled }),
    ...(keyword && { OR: [{ source: containing(keyword) }, { target: containing(keyword) }] }),
  };
  const [rows, total] = await Promise.all([
    db.redirect.findMany({ where, ...pageOf(paging) }),
    db.redirect.count({ where }),
  ]);
  return { data: rows.map(redirectOf), total };
}

export const create = ({ db }: Ctx, at: InModule, inputs: RedirectInput[]) =>
  writing(db, at, async (tx) => {
    const { siteId, moduleId } = at;
    if ((await tx.redirect.count({ where: { siteId } })) + inputs.length > REDIRECTS_OF_A_SITE)
      fail('REDIRECT_LIMIT', { extra: { limit: REDIRECTS_OF_A_SITE } });
    const rows = inAgeOrder(inputs);
    await judge(tx, at, rows);
    await tx.redirect.createMany({ data: rows.map((row) => ({ ...row, siteId, moduleId })) });
    return { ids: rows.map(({ id }) => id) };
  });

export const update = ({ db }: Ctx, at: InModule, inputs: RedirectUpdate[]) =>
  writing(db, at, async (tx) => {
    const ids = inputs.map(({ id }) => id);
    await assertAll(tx, at, ids);
    await judge(tx, at, inputs);
    await put(tx, at, inputs);
    const rows = new Map((await tx.redirect.findMany({ where: { id: { in: ids } } })).map((row) => [row.id, row]));
    return { data: ids.flatMap((id) => rows.get(id) ?? []).map(redirectOf) };
  });

export const enable = ({ db }: Ctx, at: InModule, { ids, enabled }: { ids: string[]; enabled: boolean }) =>
  writing(db, at, async (tx) => {
    await assertAll(tx, at, ids);
    const rows = await tx.redirect.findMany({ where: { moduleId: at.moduleId, id: { in: ids } } });
    if (enabled)
      await judge(
        tx,
        at,
        rows.map((row) => ({ ...ruleOf(row), enabled })),
      );
    await tx.redirect.updateMany({ where: { moduleId: at.moduleId, id: { in: ids } }, data: { enabled } });
    return { ids };
  });

export const remove = ({ db }: Ctx, at: InModule, ids: string[]) =>
  writing(db, at, async (tx) => {
    await assertAll(tx, at, ids);
    await tx.redirect.deleteMany({ where: { moduleId: at.moduleId, id: { in: ids } } });
    return { ids };
  });

const SHOWN = 100;

/** Replaces a part of the targets of all redirects of the module. */
export const replace = ({ db }: Ctx, at: InModule, { from, to, preview }: ReplaceInput) => {
  const find = async (tx: ScopedTx) => {
    const rows = await tx.redirect.findMany({
      where: { moduleId: at.moduleId, target: { contains: escaped(from) } },
      orderBy: { id: 'asc' },
    });
    const next = rows.map((row) => ({ row, target: row.target.replaceAll(from, () => to) }));
    const faults = next.flatMap(({ row, target }): Fault[] =>
      RedirectInput.safeParse({ ...row, target }).success
        ? []
        : [{ reason: 'PARAMETER', target: row.source, rule: 'format', message: 'enter a path or a URL' }],
    );
    failOnce(faults, rows.length + 1);
    await judge(
      tx,
      at,
      next.map(({ row, target }) => ({ ...ruleOf(row), enabled: row.enabled, target })),
    );
    const data = next
      .slice(0, SHOWN)
      .map(({ row, target }) => ({ id: row.id, source: row.source, before: row.target, after: target }));
    return { next, answer: { count: next.length, data } };
  };
  if (preview)
    return db.$transaction(async (tx) => {
      await own(tx, at);
      return (await find(tx)).answer;
    });
  return writing(db, at, async (tx) => {
    const { next, answer } = await find(tx);
    await put(
      tx,
      at,
      next.map(({ row, target }) => ({ id: row.id, target })),
    );
    return answer;
  });
};
/** Prisma passes `contains` to LIKE without escaping. */
const escaped = (text: string) => text.replace(/[\\%_]/g, '\\$&');

async function writing<T>(db: Ctx['db'], at: InModule, work: (tx: ScopedTx) => Promise<T>): Promise<T> {
  return db.$transaction(async (tx) => {
    // Locks the site, so that redirects that are checked together cannot change separately.
    const { zoneId } = await sites.lock(tx, at.siteId);
    await own(tx, at);
    await noteWeight(tx, [moduleKey(at.moduleId)]);
    const done = await work(tx);
    await changed(tx, zoneId, moduleKey(at.moduleId));
    return done;
  });
}

const own = async (db: ScopedTx, { siteId, moduleId }: InModule) =>
  (await db.module.findUnique({ where: { id: moduleId, siteId, kind: 'urlRedirect' } })) ?? fail('NOT_FOUND');

async function assertAll(tx: ScopedTx, { moduleId }: InModule, ids: string[]) {
  if ((await tx.redirect.count({ where: { moduleId, id: { in: ids } } })) !== new Set(ids).size) fail('NOT_FOUND');
}

/** One edit is one statement; a batch is deleted and inserted under the same ids, in two. */
async function put(tx: ScopedTx, { moduleId }: InModule, changes: ({ id: string } & Partial<RedirectInput>)[]) {
  const [{ id, ...data } = { id: '' }, ...more] = changes;
  if (more.length === 0) {
    if (id !== '') await tx.redirect.update({ where: { id, moduleId }, data });
    return;
  }
  const where = { moduleId, id: { in: changes.map((change) => change.id) } };
  const before = new Map((await tx.redirect.findMany({ where })).map((row) => [row.id, row]));
  await tx.redirect.deleteMany({ where });
  await tx.redirect.createMany({
    data: changes.flatMap((change) => {
      const row = before.get(change.id);
      return row ? [{ ...row, ...change, updatedAt: new Date() }] : [];
    }),
  });
}

type CheckedRule = RedirectRule & { enabled: boolean };

/** Fails with an error for each line that conflicts with another redirect. */
export async function judge(tx: ScopedTx, { moduleId }: Pick<InModule, 'moduleId'>, fresh: CheckedRule[]) {
  const known = new Set(fresh.map(({ id }) => id));
  const others = (await tx.redirect.findMany({ where: { moduleId } })).filter(({ id }) => !known.has(id)).map(ruleOf);
  const all = [...others, ...fresh];
  if (all.reduce((sum, { source, target }) => sum + source.length + target.length, 0) > MOST_TEXT)
    failAt('redirects', 'maxText', `more than ${MOST_TEXT} characters in one module`);
  if (all.filter(({ type }) => type === 'regex').length > MOST_PATTERNS)
    failAt('redirects', 'maxPatterns', `more than ${MOST_PATTERNS} patterns in one module`);

  const taken = new Set(others.map(keyOf));
  const hosts = new Set(
    (await tx.domain.findMany({ where: { modules: { some: { moduleId } } }, select: { name: true } })).map(
      ({ name }) => name,
    ),
  );
  const table = redirectTable(all.filter(({ enabled }) => enabled));
  const faults: Fault[] = [];
  const loops: number[] = [];
  for (const [i, rule] of fresh.entries()) {
    const key = keyOf(rule);
    if (taken.has(key)) faults.push({ reason: 'DUPLICATED', target: rule.source });
    taken.add(key);
    if (rule.enabled && leadsInCircles(table, rule, hosts)) loops.push(i);
  }
  failOnce(faults, fresh.length);
  // A new redirect may close a loop that starts at another one.
  if (loops.length === 0 && others.some((rule) => rule.enabled && leadsInCircles(table, rule, hosts))) loops.push(0);
  if (loops.length > 0)
    fail('PARAMETER', {
      errorData: loops
        .slice(0, SHOWN)
        .map((i) => ({ path: `redirects.${i}.target`, rule: 'loop', message: 'leads back to itself' })),
    });
}

/** The key by which the edge looks a redirect up. */
function keyOf({ type, source }: Pick<RedirectRule, 'type' | 'source'>): string {
  const read = type === 'regex' ? null : readSource(type, source);
  return `${type} ${read ? keyOfSource(read) : source}`;
}

export const ruleOf = (row: Omit<Row, 'createdAt' | 'updatedAt'>): CheckedRule => ({
  id: row.id,
  type: RedirectType.parse(row.type),
  source: row.source,
  target: row.target,
  code: RedirectCode.parse(row.code),
  keepQuery: row.keepQuery,
  keepRest: row.keepRest,
  priority: row.priority,
  enabled: row.enabled,
});

const redirectOf = ({ siteId: _, moduleId: __, ...row }: Row): Redirect => ({
  ...row,
  type: RedirectType.parse(row.type),
});
