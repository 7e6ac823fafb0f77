import { cacheRules } from '@edgeloom/contract/cache/cache.endpoints.ts';
import type { ReactNode } from 'react';
import { Link } from 'react-router-dom';
import { useSite } from '../../components/frame/site-scope.ts';
import { Section } from '../../components/page/section.tsx';
import { draftOf } from '../../components/rules/drafts.ts';
import { Await } from '../../components/states/await.tsx';
import { useT } from '../../lib/i18n.ts';
import { siteAddress } from '../../lib/site-address.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import classes from './cache.module.css';
import { RuleSentence } from './rule-sentence.tsx';

/** The site's rules that apply to a domain, and purge. */
export function DomainCacheTab({ purge }: { purge: ReactNode }) {
  const t = useT();
  const site = useSite();
  const found = useEndpoint(cacheRules.list, { params: { siteId: site.id }, query: { pageSize: 500 } });
  return (
    <>
      <Section title="cache.rules" why="cache.domain.why" wide>
        <Await result={found}>
          {({ data }) => {
            const on = data.filter(({ enabled }) => enabled);
            return (
              <div className={classes['ofSite']}>
                <p>
                  {on.length > 0 && t('cache.order')} {t('cache.otherwise')}
                </p>
                {on.length > 0 && (
                  <ol aria-label={t('cache.rules')}>
                    {draftOf(on).map((rule) => (
                      <li key={rule.key}>
                        <RuleSentence rule={rule} />
                      </li>
                    ))}
                  </ol>
                )}
                <Link to={siteAddress(site, 'cache')}>{t('cache.domain.manage')}</Link>
              </div>
            );
          }}
        </Await>
      </Section>
      {purge}
    </>
  );
}
