// The declaration of a rule list of sites for the server. site-rules.ts lists all of them.
import type { SiteDoc } from '@edgeloom/contract/edge/documents.ts';
import type { Area } from '@edgeloom/contract/permissions.ts';
import type { SiteRule } from '@edgeloom/contract/site-rules.ts';
import type { SiteSettings } from '@edgeloom/contract/site-settings/site-settings.ts';
import type * as z from 'zod';
import type { Ctx } from './ctx.ts';
import { inAgeOrder } from './rule-list.ts';
import type { ScopedDb, ScopedTx } from './scope.ts';
import type { Sql } from './sql.ts';

export interface SiteRuleFeature {
  /** In settings, copies and the site's document. */
  name: SiteRule;
  /** Which permissions its endpoints require. */
  area: Area;
  table: string;
  /** Has the defaults of its fields, which differences leave out. */
  input: z.ZodObject;
  /** SELECT statement: the enabled rules of site `s`, in the order of evaluation. */
  rows: Sql;
  /** Absent: the document contains the rows unchanged. */
  document?: (rows: unknown[]) => Partial<SiteDoc>;
  settings: (ctx: Ctx, siteId: string) => Promise<Partial<SiteSettings>>;
  /** Replaces the rules of the target sites. */
  copy: (tx: ScopedTx, siteId: string, targets: readonly string[]) => Promise<void>;
  /** Kind of its rules in simulations, and how the console names a rule. */
  ruleKind: string;
  ruleNames?: (db: ScopedDb, ids: string[]) => Promise<{ id: string; name: string }[]>;
}

interface StoredRule {
  id: string;
  siteId: string;
  createdAt: Date;
  updatedAt: Date;
}
/** The content of a row without its ids and times. */
export const contentOf = <Row extends StoredRule>({
  id: _,
  siteId: _s,
  createdAt: _c,
  updatedAt: _u,
  ...content
}: Row) => content;

/** The same rows in the same order for each target. */
export const copiesOf = <Row extends StoredRule>(rows: Row[], targets: readonly string[]) =>
  targets.flatMap((siteId) => inAgeOrder(rows.map((row) => ({ ...contentOf(row), siteId }))));

/** Display name of a rule about paths. */
export const pathsName = (value: string[], type: string) => (value.length === 0 ? type : value.slice(0, 3).join(', '));
