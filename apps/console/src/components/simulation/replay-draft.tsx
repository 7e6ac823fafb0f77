import { simulate } from '@edgeloom/contract/simulate/simulate.calls.ts';
import { Button } from '@mantine/core';
import { useState } from 'react';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { count } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { callsOf, siteOf, type Planned } from '../../lib/planned.ts';
import { useCan } from '../../lib/use-can.ts';
import { useAction } from '../../lib/use-endpoint.ts';
import { nameOf } from './in-words.ts';
import classes from './simulation.module.css';

type Replay = Received<typeof simulate.replay>;

/** Replays the requests of the last hour with these unsaved changes. */
export function ReplayDraft({ planned }: { planned: readonly Planned[] }) {
  const t = useT();
  const can = useCan();
  const [replay, setReplay] = useState<Replay | null>(null);
  const { run, running } = useAction(simulate.replay);
  if (!can(simulate.replay) || !can({ can: 'log:read' })) return null;
  async function runReplay() {
    setReplay(null);
    setReplay(await run({ params: { siteId: siteOf(planned) }, body: { draft: callsOf(planned) } }));
  }
  return (
    <section className={classes['try']} aria-label={t('simulate.replay.title')}>
      <div className={classes['replayAsk']}>
        <span>{t('simulate.replay.why')}</span>
        <Button variant="default" loading={running} onClick={() => void runReplay()}>
          {t('simulate.replay.run')}
        </Button>
      </div>
      {replay !== null && <ReplayResult replay={replay} />}
    </section>
  );
}

function ReplayResult({ replay }: { replay: Replay }) {
  const t = useT();
  const { requests, replayed, blocked, challenged, redirected, allowed, alreadyRefused, top, notReplayed } = replay;
  if (requests === 0) return <output>{t('simulate.replay.empty')}</output>;
  return (
    <div className={classes['try']}>
      <output className={classes['outcome']}>
        <b>{t('simulate.replay.blocked', { number: count(blocked), total: count(replayed) })}</b>
        <span className={classes['by']}>
          {t('simulate.replay.others', {
            challenged: count(challenged),
            redirected: count(redirected),
            allowed: count(allowed),
            refused: count(alreadyRefused),
          })}
        </span>
      </output>
      {top.length > 0 && <TopRequests top={top} />}
      {!replay.isComplete && (
        <p>{t('simulate.replay.incomplete', { number: count(replayed), total: count(requests) })}</p>
      )}
      {notReplayed.length > 0 && (
        <div>
          <h3 className={classes['head']}>{t('simulate.replay.notReplayed')}</h3>
          <ul className={classes['gaps']}>
            {notReplayed.map((gap) => (
              <li key={gap}>{t(`simulate.replay.gaps.${gap}`)}</li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}

function TopRequests({ top }: { top: Replay['top'] }) {
  const t = useT();
  return (
    <table className={classes['top']}>
      <caption>{t('simulate.replay.top')}</caption>
      <thead>
        <tr>
          <th scope="col">{t('simulate.replay.columns.requests')}</th>
          <th scope="col">{t('simulate.replay.columns.visitor')}</th>
          <th scope="col">{t('simulate.replay.columns.request')}</th>
          <th scope="col">{t('simulate.replay.columns.cause')}</th>
        </tr>
      </thead>
      <tbody>
        {top.map(({ requests, address, country, method, host, uri, userAgent, outcome, cause, rule }, i) => (
          // oxlint-disable-next-line react/no-array-index-key -- two rows may be equal here, and the list never changes
          <tr key={i}>
            <td>{count(requests)}</td>
            <td>
              {address} {country}
              <small>
                <bdi>{userAgent}</bdi>
              </small>
            </td>
            <td>
              {method} <bdi>{host + uri}</bdi>
            </td>
            <td>
              {t(`simulate.replay.outcomes.${outcome}`)}
              <small>
                {nameOf({ step: cause })}
                {rule !== null && ` · ${rule.name ?? t('simulate.drafted')}`}
              </small>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
