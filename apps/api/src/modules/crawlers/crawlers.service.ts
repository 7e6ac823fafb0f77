import {
  CrawlerCategory,
  CrawlerRule,
  type Crawlers,
  type CrawlersInput,
} from '@edgeloom/contract/crawlers/crawlers.ts';
import type { Ctx } from '../../core/ctx.ts';
import type { ScopedTx } from '../../core/scope.ts';
import { assertSite, withSite } from '../firewall/site-lock.ts';

export async function readCrawlers({ db }: Ctx, siteId: string): Promise<Crawlers> {
  await assertSite(db, siteId);
  return withAllCategories(await storedRules(db, siteId));
}

/** The rules that were stored, in the order of categories. */
export async function storedRules(tx: ScopedTx, siteId: string): Promise<CrawlerRule[]> {
  const select = { id: true, category: true, action: true, perMinute: true, monitor: true } as const;
  const rows = CrawlerRule.array().parse(await tx.crawlerRule.findMany({ where: { siteId }, select }));
  return rows.toSorted((a, b) => placeOf(a) - placeOf(b));
}
const placeOf = ({ category }: CrawlerRule) => CrawlerCategory.options.indexOf(category);

const withAllCategories = (rules: readonly CrawlerRule[]): Crawlers => ({
  rules: CrawlerCategory.options.map(
    (category) =>
      rules.find((rule) => rule.category === category) ?? {
        id: null,
        category,
        action: 'allow',
        perMinute: 60,
        monitor: false,
      },
  ),
});

/** A rule keeps its id, by which statistics count it. */
export const writeCrawlers = (ctx: Ctx, siteId: string, { rules }: CrawlersInput): Promise<Crawlers> =>
  withSite(ctx, siteId, async (tx) => {
    const before = await storedRules(tx, siteId);
    const categories = rules.map(({ category }) => category);
    await tx.crawlerRule.deleteMany({ where: { siteId, category: { notIn: categories } } });
    for (const { category, ...rule } of rules) {
      const old = before.find((one) => one.category === category);
      if (!old) await tx.crawlerRule.create({ data: { siteId, category, ...rule } });
      else if (isChanged(old, rule)) await tx.crawlerRule.updateMany({ where: { siteId, category }, data: rule });
    }
    return withAllCategories(await storedRules(tx, siteId));
  });

type Fields = Pick<CrawlerRule, 'action' | 'perMinute' | 'monitor'>;
const isChanged = (old: Fields, rule: Fields) =>
  old.action !== rule.action || old.perMinute !== rule.perMinute || old.monitor !== rule.monitor;
