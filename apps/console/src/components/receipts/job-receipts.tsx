import { useEffect } from 'react';
import { useInsideOverlay } from '../overlay/overlay.tsx';
import { Receipts, type JobOf } from './receipts.tsx';
import { useJob } from './use-job.ts';
import { Await } from '../states/await.tsx';
import { Status } from '../status/status.tsx';
import { useT } from '../../lib/i18n.ts';
import { refresh } from '../../lib/queries.ts';
import classes from './receipts.module.css';

/** Live receipts of a job. When the job ends, dependent lists are reloaded. */
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
                text={t(isPurged(data) ? 'purge.done' : `status.task.${data.state}`)}
              />
            }
          />
        )}
      </Await>
    </div>
  );
}

const isPurged = ({ state, kind }: JobOf) => state === 'completed' && kind.startsWith('purge');
