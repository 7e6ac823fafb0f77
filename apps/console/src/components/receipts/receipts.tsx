import type { Received } from '@edgeloom/contract/endpoint.ts';
import type { jobs } from '@edgeloom/contract/jobs/jobs.endpoints.ts';
import { Tooltip } from '@mantine/core';
import type { ReactNode } from 'react';
import { took } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { StatusMark } from '../status/status-mark.tsx';
import classes from './receipts.module.css';

export type JobOf = Received<typeof jobs.get>;
type Receipt = JobOf['receipts'][number];

const tones = { pending: 'warn', done: 'ok', failed: 'bad' } as const;

/** The result of each node. An offline node shows what will happen when it returns. */
export function Receipts({ job, pill }: { job: JobOf; pill?: ReactNode }) {
  const t = useT();
  const slowest = Math.max(0, ...job.receipts.map(({ tookMs }) => tookMs ?? 0));
  const waiting = job.receipts.filter(({ state }) => state === 'pending').map(({ nodeName }) => nodeName);
  return (
    <section className={classes['card']} aria-label={job.title}>
      <header className={classes['head']}>
        <b className={classes['title']}>{job.title}</b>
        {pill}
        <output className={classes['tally']}>
          {t('shared.receipts.done', { done: job.done, total: job.total })}
          {slowest > 0 && `${t('common.pause')}${t('shared.receipts.slowest', { took: took(slowest) })}`}
        </output>
      </header>
      <ul className={classes['nodes']}>
        {job.receipts.map((receipt) => (
          <li key={receipt.nodeID} className={classes['node']}>
            <StatusMark tone={tones[receipt.state]} label={t(`status.receipt.${receipt.state}`)} />
            <span className={classes['name']}>{receipt.nodeName}</span>
            <Answer receipt={receipt} />
          </li>
        ))}
      </ul>
      {waiting.length > 0 && (
        <p className={classes['later']}>{t('shared.receipts.later', { names: waiting.join(t('common.comma')) })}</p>
      )}
    </section>
  );
}

function Answer({ receipt: { state, tookMs, objects, error } }: { receipt: Receipt }) {
  const t = useT();
  if (state === 'done') return <span className={classes['took']}>{tookMs === null ? '' : took(tookMs)}</span>;
  if (state === 'pending')
    return (
      <span className={classes['took']}>
        {objects === null ? t('shared.receipts.waiting') : t('shared.receipts.objects', { count: objects })}
      </span>
    );
  return (
    <Tooltip label={error ?? t('shared.receipts.failed')} events={{ hover: true, focus: true, touch: true }}>
      <button type="button" className={classes['failed']}>
        {t('shared.receipts.failed')}
      </button>
    </Tooltip>
  );
}
