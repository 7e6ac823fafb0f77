import type { Received } from '@edgeloom/contract/endpoint.ts';
import { jobs } from '@edgeloom/contract/jobs/jobs.calls.ts';
import { useEffect, useState } from 'react';
import { count as number } from '../../lib/format.ts';
import { tMaybe, useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { useJobs, type FollowedJob } from '../../stores/jobs.ts';
import { useOverlay } from '../overlay/overlay.tsx';
import { Pages } from '../pages/pages.tsx';
import { Receipts } from '../receipts/receipts.tsx';
import { useJob } from '../receipts/use-job.ts';
import { EmptyState } from '../states/states.tsx';
import { Status } from '../status/status.tsx';
import { Time } from '../values/values.tsx';
import { IconStack2 } from '@tabler/icons-react';
import type { SiteInfo } from './site-scope.ts';
import classes from './rail.module.css';

type Job = Received<typeof jobs.list>['data'][number];

const kindOf = ({ kind, title }: Pick<Job, 'kind' | 'title'>) => tMaybe(`frame.jobs.kind.${kind}`) ?? title;
const PAGE_SIZE = 25;
/** The tray sends one request per job of the tab. */
const FOLLOWED_PAGE_SIZE = 10;
const newestFirst = { sortBy: 'createdAt', orderBy: 'desc' } as const;

/** Shows the newest running job of the site, or one started in this tab. Opens the list of jobs. */
export function JobsTray({ site }: { site: SiteInfo | null }) {
  const followed = useJobs((state) => state.followed);
  const [newest] = followed;
  if (site) return <SiteJobs siteId={site.id} />;
  return newest ? <FollowedJobs newest={newest} count={followed.length} /> : null;
}

const isRunning = ({ state }: Pick<Job, 'state'>) => state === 'processing';

function SiteJobs({ siteId }: { siteId: string }) {
  const overlay = useOverlay();
  const params = { siteId };
  const running = useEndpoint(
    jobs.list,
    { params, query: { ...newestFirst, state: ['processing'], pageSize: 1 } },
    { poll: (page) => (page && page.total > 0 ? 1500 : 15_000) },
  ).data;
  const all = useEndpoint(jobs.list, { params, query: { pageSize: 1 } }, { pollMs: 15_000 }).data;
  const runningCount = running?.total ?? 0;
  useEffect(() => {
    useJobs.setState({ running: runningCount });
    return () => useJobs.setState({ running: 0 });
  }, [runningCount]);
  if (!running || !all || all.total === 0) return null;
  return (
    <Foot
      job={running.data[0] ?? null}
      count={all.total}
      onOpen={() => overlay(<JobList siteId={siteId} />, { title: 'frame.jobs.title' })}
    />
  );
}

function FollowedJobs({ newest, count }: { newest: FollowedJob; count: number }) {
  const overlay = useOverlay();
  const { data } = useJob(newest.siteId, newest.jobID);
  return (
    <Foot
      job={data && isRunning(data) ? data : null}
      count={count}
      onOpen={() => overlay(<FollowedList />, { title: 'frame.jobs.title' })}
    />
  );
}

function FollowedList() {
  const t = useT();
  const followed = useJobs((state) => state.followed);
  const [page, setPage] = useState(1);
  const shown = followed.slice((page - 1) * FOLLOWED_PAGE_SIZE, page * FOLLOWED_PAGE_SIZE);
  return (
    <>
      <p className={classes['jobsNote']}>{t('frame.jobs.ofTab')}</p>
      <ul className={classes['jobs']}>
        {shown.map(({ siteId, jobID }) => (
          <li key={jobID} className={classes['jobItem']}>
            <Opened siteId={siteId} jobID={jobID} />
          </li>
        ))}
      </ul>
      <div className={classes['jobPages']}>
        <Pages page={page} pageSize={FOLLOWED_PAGE_SIZE} total={followed.length} onChange={setPage} />
      </div>
    </>
  );
}

interface FootProps {
  job: Pick<Job, 'kind' | 'title' | 'done' | 'total' | 'state'> | null;
  count: number;
  onOpen: () => void;
}

function Foot({ job, count, onOpen }: FootProps) {
  const t = useT();
  return (
    <button type="button" className={classes['job']} onClick={onOpen}>
      <IconStack2 className={classes['jobIcon'] ?? ''} size={16} stroke={1.6} aria-hidden />
      <span className={classes['jobLine']}>
        {/* The accessible name must begin with the visible text, so the text itself is the name. */}
        <span className={classes['jobTitle']}>{job ? kindOf(job) : t('frame.jobs.title')}</span>
        <span>{job ? `${job.done}/${job.total}` : number(count)}</span>
      </span>
      {job && <Bar job={job} />}
    </button>
  );
}

/** Hidden from screen readers, because the text beside it has the same content. */
const Bar = ({ job }: { job: Pick<Job, 'done' | 'total' | 'state'> }) => (
  <progress
    className={classes['bar']}
    value={job.done}
    max={Math.max(1, job.total)}
    data-state={job.state}
    aria-hidden
  />
);

function JobList({ siteId }: { siteId: string }) {
  const t = useT();
  const [page, setPage] = useState(1);
  const query = { ...newestFirst, page, pageSize: PAGE_SIZE };
  const { data } = useEndpoint(jobs.list, { params: { siteId }, query }, { pollMs: 3000 });
  const [opened, setOpened] = useState<string | null>(null);
  if (!data) return null;
  if (data.total === 0) return <EmptyState icon={IconStack2} title={t('frame.jobs.none')} />;
  return (
    <>
      <ul className={classes['jobs']}>
        {data.data.map((job) => (
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
                <span>{t('shared.receipts.done', { done: job.done, total: job.total })}</span>
                <span>{t('common.details')}</span>
              </span>
              <Bar job={job} />
            </button>
            {opened === job.id && <Opened siteId={siteId} jobID={job.id} />}
          </li>
        ))}
      </ul>
      <div className={classes['jobPages']}>
        <Pages page={page} pageSize={PAGE_SIZE} total={data.total} onChange={setPage} />
      </div>
    </>
  );
}

function Opened({ siteId, jobID }: { siteId: string; jobID: string }) {
  const { data } = useJob(siteId, jobID);
  return data ? <Receipts job={data} /> : null;
}
