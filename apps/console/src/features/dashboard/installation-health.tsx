import { LATE_SECONDS } from '@edgeloom/contract/overview/late-seconds.ts';
import { Await } from '../../components/states/await.tsx';
import { count, duration } from '../../lib/format.ts';
import { tMaybe, useLanguage, useT, type T } from '../../lib/i18n.ts';
import type { Result } from '../../lib/use-endpoint.ts';
import type { Tone } from '../../theme/tokens.ts';
import classes from './dashboard.module.css';
import { HealthRow } from './health-row.tsx';
import type { Overview } from './installation-figures.tsx';

/** Nodes, publishing and background work of the whole installation. */
export function InstallationHealth({ found }: { found: Result<Overview> }) {
  const t = useT();
  const language = useLanguage();
  return (
    <Await result={found}>
      {({ nodes, queues, failingDocuments, waitingChanges }) => {
        const late = queues.filter(({ delaySeconds }) => delaySeconds > LATE_SECONDS);
        return (
          <ul className={classes['items']}>
            <NodesHealth nodes={nodes} />
            <PublishingHealth failing={failingDocuments} waiting={waitingChanges} />
            {late.length === 0 && (
              <HealthRow tone="ok" name={t('dashboard.health.work')}>
                {t('dashboard.health.onTime')}
              </HealthRow>
            )}
            {late.map(({ queue, due, delaySeconds }) => (
              <HealthRow key={queue} tone="warn" name={tMaybe(`dashboard.health.queues.${queue}`) ?? queue}>
                {t('dashboard.health.late', {
                  count: due,
                  rows: count(due),
                  time: duration(delaySeconds, language),
                })}
              </HealthRow>
            ))}
          </ul>
        );
      }}
    </Await>
  );
}

interface PublishingProps {
  failing: number;
  waiting: Overview['waitingChanges'];
}

export function PublishingHealth({ failing, waiting = { count: 0, delaySeconds: 0 } }: PublishingProps) {
  const t = useT();
  const language = useLanguage();
  const texts = [];
  if (failing > 0) texts.push(t('dashboard.health.unpublished', { count: failing, rows: count(failing) }));
  if (waiting.count > 0)
    texts.push(
      t('dashboard.health.waiting', {
        count: waiting.count,
        rows: count(waiting.count),
        time: duration(waiting.delaySeconds, language),
      }),
    );
  const tone = failing > 0 ? 'bad' : waiting.delaySeconds > LATE_SECONDS ? 'warn' : 'ok';
  return (
    <HealthRow tone={tone} name={t('dashboard.health.publishing')}>
      {texts.join(' · ') || t('dashboard.health.published')}
    </HealthRow>
  );
}

type Nodes = Overview['nodes'];

export function NodesHealth({ nodes }: { nodes: Nodes }) {
  const t = useT();
  return (
    <HealthRow tone={toneOf(nodes)} name={t('dashboard.health.nodes')}>
      {textOf(nodes, t)}
    </HealthRow>
  );
}

function toneOf({ online, offline, rejecting }: Nodes): Tone {
  if (offline > 0 || rejecting > 0) return 'bad';
  return online > 0 ? 'ok' : 'off';
}

function textOf({ online, offline, disabled, rejecting }: Nodes, t: T): string {
  if (online + offline + disabled === 0) return t('dashboard.health.noNodes');
  const parts = { online, offline, disabled, rejecting } as const;
  return (['online', 'offline', 'disabled', 'rejecting'] as const)
    .filter((state) => state === 'online' || parts[state] > 0)
    .map((state) => t(`dashboard.health.${state}`, { rows: count(parts[state]) }))
    .join(t('common.comma'));
}
