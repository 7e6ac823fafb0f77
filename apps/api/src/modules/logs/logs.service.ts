// Searches the requests of the sites that the caller may see.
import type { SearchOptions } from '../../access-log/access-log.ts';
import { MAX_SEARCH_MS } from '../../access-log/bounded-search.ts';
import { accessLogOf } from '../../access-log/open.ts';
import type { LogPage, LogQuery } from '@edgeloom/contract/logs/logs.ts';
import { WafExplanation } from '@edgeloom/contract/waf/explanation.ts';
import type { LogDetail } from '@edgeloom/contract/logs/trail.ts';
import type { Ctx } from '../../core/ctx.ts';
import { fail } from '../../core/fail.ts';
import { named } from '../simulate/rule-names.ts';
import { trailOf } from './trail.ts';
import { parse } from '../../statistics/log-lines.ts';
import { assertSites } from '../../statistics/selection.ts';

/** Newest first. */
export async function access(ctx: Ctx, query: LogQuery): Promise<LogPage> {
  await assertSites(ctx, query.siteIDs);
  const { rows, ...rest } = await accessLogOf(ctx.installation).search(ctx.db.$read, query, optionsOf(ctx, query));
  return { data: rows.map(({ explanation: _, wafRule: _rule, ...row }) => forReader(ctx, row)), ...rest };
}

export const optionsOf = ({ installation }: Ctx, { mayEndEarly }: Pick<LogQuery, 'mayEndEarly'>): SearchOptions => ({
  limitMs: mayEndEarly ? installation.env.LOG_SEARCH_MS : MAX_SEARCH_MS,
});

export async function request(ctx: Ctx, reqID: string): Promise<LogDetail> {
  const found = await accessLogOf(ctx.installation).find(ctx.db.$read, reqID);
  if (found === null) return fail('NOT_FOUND');
  const { written, explanation, ...rest } = found;
  const row = withoutRule(rest);
  const { trail, microseconds } = trailOf(written, row);
  const rules = await named(ctx.db, trail);
  return {
    ...forReader(ctx, row),
    trail: trail.map((step, i) => ({ ...step, rule: rules[i] ?? null })),
    microseconds: microseconds !== null && Number.isFinite(microseconds) ? microseconds : null,
    waf: explained(explanation),
  };
}

const withoutRule = <Row extends { wafRule: string }>({ wafRule: _, ...row }: Row): Omit<Row, 'wafRule'> => row;

/** Null: there is none, or a node wrote something else. */
export const explained = (text: string): WafExplanation | null => parse(WafExplanation, text);

/** Node names belong to the operator. */
export const forReader = <Row extends { nodeName: string }>({ actor }: Pick<Ctx, 'actor'>, row: Row): Row =>
  actor.kind === 'user' ? { ...row, nodeName: '' } : row;
