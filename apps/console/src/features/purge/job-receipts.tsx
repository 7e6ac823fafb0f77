import { useEffect } from 'react';
import { useInsideOverlay } from '../../components/overlay/overlay.tsx';
import { Receipts } from '../../components/receipts/receipts.tsx';
import { useJob } from '../../components/receipts/use-job.ts';
import { Await } from '../../components/states/await.tsx';
import { Status } from '../../components/status/status.tsx';
import { useT } from '../../lib/i18n.ts';
import { refresh } from '../../lib/queries.ts';
import classes from './purge.module.css';

/** The receipts of one purge, live; when it ends, the lists that show it are asked again. */
export function JobReceipts({ siteId, jobID }: { siteId: string; jobID: string }) {
  const t = useT();
  const inDrawer = useInsideOverlay() !== null;
  const job = useJob(siteId, jobID);
  const state = job.data?.state;
  useEffect(() => {
    if (state === 'completed' || state === 'failed') void refresh(['purge']);
  }, [state]);
  return (
    <div className={inDrawer ? classes['inDrawer'] : undefined}>
      <Await result={job}>
        {(data) => (
          <Receipts
            job={data}
            pill={
              <Status
                kind="task"
                value={data.state}
                text={t(data.state === 'completed' ? 'purge.done' : `status.task.${data.state}`)}
              />
            }
          />
        )}
      </Await>
    </div>
  );
}
