import { purge } from '@edgeloom/contract/purge/purge.endpoints.ts';
import { useState } from 'react';
import { useSite } from '../../components/frame/site-scope.ts';
import { Section } from '../../components/page/section.tsx';
import { ForbiddenState } from '../../components/states/states.tsx';
import { useCan } from '../../lib/use-can.ts';
import { JobReceipts } from '../../components/receipts/job-receipts.tsx';
import { PurgeForm } from './purge-form.tsx';
import { PurgeHistory } from './purge-history.tsx';
import classes from './purge.module.css';

/** Purge form, live receipts and history. */
export function PurgeTab() {
  const can = useCan();
  const site = useSite();
  const [jobID, setJobID] = useState<string | null>(null);
  if (!can(purge.history)) return <ForbiddenState permission={purge.history.can} />;
  return (
    <>
      {can(purge.urls) && (
        <Section title="purge.what" why="purge.whatWhy" wide>
          <div className={classes['what']}>
            <PurgeForm site={site} onStarted={setJobID} />
            {jobID !== null && <JobReceipts siteId={site.id} jobID={jobID} />}
          </div>
        </Section>
      )}
      <PurgeHistory siteId={site.id} />
    </>
  );
}
