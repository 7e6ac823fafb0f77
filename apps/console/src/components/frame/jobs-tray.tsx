import type { Received } from '@edgeloom/contract/endpoint.ts';
import { jobs } from '@edgeloom/contract/jobs/jobs.endpoints.ts';
import { useEffect, useState } from 'react';
import { tMaybe, useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { useJobs } from '../../stores/jobs.ts';
import { useOverlay } from '../overlay/overlay.tsx';
import { Receipts } from '../receipts/receipts.tsx';
import { useJob } from '../receipts/use-job.ts';
import { EmptyState } from '../states/states.tsx';
import { Status } from '../status/status.tsx';
import { Time } from '../values/values.tsx';
import { IconStack2 } from '@tabler/icons-react';
import type { SiteInfo } from './site-scope.ts';
import classes from './rail.module.css';

type Job = Received<typeof jobs.list>['data'][number];

const kindOf = ({ kind, title }: Job) => tMaybe(`frame.jobs.kind.${kind}`) ?? title;
const list = { query: { page: 1, pageSize: 25, sortBy: 'createdAt', orderBy: 'desc' } } as const;

/** The newest running job of the open site with its progress; opens the list of all of them. */
export function JobsTray({ site }: { site: SiteInfo | null }) {
  return site ? <SiteJobs siteId={site.id} /> : null;
}

function SiteJobs({ siteId }: { siteId: string }) {
  const t = useT();
  const overlay = useOverlay();
  const followed = useJobs((state) => state.followed[0]?.jobID);
  const [pollMs, setPollMs] = useState(15_000);
  const { data, retry } = useEndpoint(jobs.list, { params: { siteId }, ...list }, { pollMs });
  const running = (data?.data ?? []).filter(({ state }) => state === 'processing');
  const shown = running[0];
  useEffect(() => setPollMs(running.length > 0 ? 1500 : 15_000), [running.length]);
  useEffect(() => useJobs.setState({ running: running.length }), [running.length]);
  useEffect(() => () => useJobs.setState({ running: 0 }), []);
  // A job that was started a moment ago should not wait for the next poll.
  useEffect(() => {
    if (followed !== undefined) retry();
  }, [followed]);
  if (!data || data.data.length === 0) return null;
  const label = shown
    ? t('frame.jobs.open', { title: kindOf(shown), done: shown.done, total: shown.total })
    : t('frame.jobs.title');
  return (
    <button
      type="button"
      className={classes['job']}
      aria-label={label}
      onClick={() => overlay(<JobList siteId={siteId} />, { title: 'frame.jobs.title' })}
    >
      <span className={classes['jobLine']}>
        <span className={classes['jobTitle']}>{shown ? kindOf(shown) : t('frame.jobs.title')}</span>
        <span>{shown ? `${shown.done}/${shown.total}` : data.total}</span>
      </span>
      {shown && (
        <progress
          className={classes['bar']}
          value={shown.done}
          max={Math.max(1, shown.total)}
          data-state={shown.state}
          aria-hidden
        />
      )}
    </button>
  );
}

function JobList({ siteId }: { siteId: string }) {
  const t = useT();
  const { data } = useEndpoint(jobs.list, { params: { siteId }, ...list }, { pollMs: 3000 });
  const [opened, setOpened] = useState<string | null>(null);
  if (data && data.data.length === 0) return <EmptyState icon={IconStack2} title={t('frame.jobs.none')} />;
  return (
    <ul className={classes['jobs']}>
      {data?.data.map((job) => (
        <li key={job.id} className={classes['jobItem']}>
          <div className={classes['jobHead']}>
            <Status kind="task" value={job.state} />
            <b>{kindOf(job)}</b>
          </div>
          <div className={classes['jobMeta']}>
            {job.title} · <Time at={job.createdAt} /> · {job.createdBy}
          </div>
          <button
            type="button"
            className={classes['job']}
            aria-expanded={opened === job.id}
            onClick={() => setOpened(opened === job.id ? null : job.id)}
          >
            <span className={classes['jobLine']}>
              <span>{t('common.receipts.done', { done: job.done, total: job.total })}</span>
              <span>{t('common.details')}</span>
            </span>
            <progress
              className={classes['bar']}
              value={job.done}
              max={Math.max(1, job.total)}
              data-state={job.state}
              aria-hidden
            />
          </button>
          {opened === job.id && <Opened siteId={siteId} jobID={job.id} />}
        </li>
      ))}
    </ul>
  );
}

function Opened({ siteId, jobID }: { siteId: string; jobID: string }) {
  const { data } = useJob(siteId, jobID);
  return data ? <Receipts job={data} /> : null;
}
