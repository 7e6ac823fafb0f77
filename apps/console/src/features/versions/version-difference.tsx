import { versions } from '@edgeloom/contract/versions/versions.endpoints.ts';
import { Await } from '../../components/states/await.tsx';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { Differences } from './differences.tsx';
import classes from './versions.module.css';

interface Between {
  siteId: string;
  version: number;
  /** The version before, where it is left out. */
  against?: number;
}

export function VersionDifference({ siteId, version, against }: Between) {
  const t = useT();
  const found = useEndpoint(versions.compare, {
    params: { siteId, version },
    query: { ...(against !== undefined && { against }) },
  });
  return (
    <div className={classes['page']}>
      <Await result={found}>
        {({ data, total }) => (total === 0 ? <p>{t('versions.same')}</p> : <Differences rows={data} total={total} />)}
      </Await>
    </div>
  );
}
