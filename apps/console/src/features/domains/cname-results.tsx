import { useState } from 'react';
import { Pages } from '../../components/pages/pages.tsx';
import { RowResults, type RowResult } from '../../components/row-results/row-results.tsx';
import { Copy } from '../../components/values/copy.tsx';
import { explain } from '../../lib/errors.ts';
import { useT } from '../../lib/i18n.ts';
import classes from './domains.module.css';
import { useCnameCheck, type CnameCheck } from './use-cname-check.ts';

/** Number of names per lookup call. */
const PAGE_SIZE = 100;

interface CnameResultsProps {
  siteId: string;
  /** The CNAME target; null if the installation has none. */
  cname: string | null;
  /** New domains have no state yet. */
  rows: readonly { id: string; name: string; cnameStatus?: CnameCheck['cnameStatus'] }[];
}

/** Current targets, polled until they are correct. */
export function CnameResults({ cname, ...props }: CnameResultsProps) {
  const t = useT();
  if (cname === null) return <p className={classes['cname']}>{t('domains.cname.unset')}</p>;
  return <Results {...props} cname={cname} />;
}

function Results({ siteId, cname, rows }: CnameResultsProps & { cname: string }) {
  const t = useT();
  const [page, setPage] = useState(1);
  const those = rows.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE);
  const { found, error } = useCnameCheck(
    siteId,
    those.map(({ id }) => id),
  );
  const results = those.map(({ id, name, cnameStatus = 'pendingCheck' }): RowResult => {
    const row = found?.find((one) => one.id === id);
    if (!row) return { name, outcome: 'waiting', text: t('domains.cname.looking') };
    return {
      name,
      outcome: row.cnameStatus === 'active' ? 'done' : cnameStatus === 'pendingCheck' ? 'waiting' : 'failed',
      text: row.found === null ? t('domains.cname.nowhere') : t('domains.cname.leads', { to: row.found }),
    };
  });
  return (
    <div className={classes['cname']}>
      <div>
        <span className={classes['quiet']}>{t('domains.cname.target')}</span>
        <Copy text={cname} />
      </div>
      {error !== null && (
        <p className={classes['note']} data-bad role="alert">
          {explain(error).text}
        </p>
      )}
      <RowResults title={t('domains.bulk.check')} rows={results} />
      <Pages page={page} pageSize={PAGE_SIZE} total={rows.length} onChange={setPage} />
    </div>
  );
}
