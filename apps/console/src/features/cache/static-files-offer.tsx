import { cacheRules } from '@edgeloom/contract/cache/cache.endpoints.ts';
import { Button } from '@mantine/core';
import { IconDatabase } from '@tabler/icons-react';
import { Link } from 'react-router-dom';
import { useSite } from '../../components/frame/site-scope.ts';
import { useT } from '../../lib/i18n.ts';
import { siteAddress } from '../../lib/site-address.ts';
import { useCan } from '../../lib/use-can.ts';
import { useAction, useEndpoint } from '../../lib/use-endpoint.ts';
import { useState } from 'react';
import classes from './cache.module.css';
import { fieldsOf, staticFiles, type Rule } from './rules-draft.ts';

const isForFiles = ({ type, enabled, cacheTime }: Rule) => type === 'fileType' && enabled && cacheTime > 0;

/** Publishes the rule for static files with one click, unless the site has one. */
export function StaticFilesOffer() {
  const t = useT();
  const can = useCan();
  const site = useSite();
  const params = { siteId: site.id };
  const [isAdded, setAdded] = useState(false);
  const found = useEndpoint(cacheRules.list, { params, query: { pageSize: 500 } }, { enabled: can(cacheRules.list) });
  const { run, running } = useAction(cacheRules.create, { refreshes: ['sites'], done: 'cache.offer.done' });
  const rules = found.data?.data;
  if (rules === undefined || !can(cacheRules.create) || (!isAdded && rules.some(isForFiles))) return null;
  const add = async () => {
    if (await run({ params, body: { rules: [{ ...fieldsOf(staticFiles()), priority: rules.length }] } }))
      setAdded(true);
  };
  return (
    <section className={classes['offer']} aria-label={t('cache.offer.title')}>
      <IconDatabase size={18} stroke={1.6} aria-hidden />
      <div>
        <b>{t('cache.offer.title')}</b>
        <p>{t(isAdded ? 'cache.offer.added' : 'cache.offer.text')}</p>
      </div>
      {isAdded ? (
        <Button component={Link} to={siteAddress(site, 'cache')} variant="default">
          {t('cache.offer.open')}
        </Button>
      ) : (
        <Button loading={running} onClick={() => void add()}>
          {t('cache.offer.add')}
        </Button>
      )}
    </section>
  );
}
