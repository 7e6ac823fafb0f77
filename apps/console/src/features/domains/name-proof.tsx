import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { Button } from '@mantine/core';
import { IconPower, IconRefresh } from '@tabler/icons-react';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { Status } from '../../components/status/status.tsx';
import { Copy, CopyIcon } from '../../components/values/copy.tsx';
import { Time } from '../../components/values/values.tsx';
import { useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useAction, useEndpoint } from '../../lib/use-endpoint.ts';
import classes from './name-proof.module.css';
import type { Domain } from './origins-draft.ts';
import { useSwitchDomain } from './switch-domains.ts';

export const isWaiting = ({ proof }: Domain) => proof?.state === 'waiting';

/** The TXT record for name verification, and the last result. */
export function NameProof({ domain }: { domain: Domain }) {
  const t = useT();
  const can = useCan();
  const { proof, siteID: siteId } = domain;
  const { run, running } = useAction(domains.checkProof);
  const { turn, running: isTurning } = useSwitchDomain(domain);
  if (proof === null) return null;
  const { record, value, state, outcome, seen, lookedAt, nextLookAt } = proof;
  const isProven = state === 'proven';
  return (
    <section className={classes['proof']} aria-label={t('domains.proof.title')}>
      <h2 className={classes['title']}>
        <Status kind="proof" value={state} />
      </h2>
      <p className={classes['why']}>{t(isProven ? 'domains.proof.provenWhy' : 'domains.proof.why')}</p>
      <dl className={classes['record']}>
        <dt>{t('domains.proof.type')}</dt>
        <dd>TXT</dd>
        <dt>{t('domains.proof.record')}</dt>
        <dd>
          <Copy text={record} />
        </dd>
        <dt>{t('domains.proof.value')}</dt>
        <dd>
          <span className={classes['value']}>{value}</span>
          <CopyIcon text={value} name={t('domains.proof.value')} />
        </dd>
        <dt>{t('domains.proof.found')}</dt>
        <dd aria-live="polite">
          <span>
            {t(`domains.proof.outcomes.${outcome ?? 'none'}`)}
            {seen.length > 0 && <code className={classes['seen']}>{seen.join('  ')}</code>}
            {lookedAt !== null && (
              <span className={classes['when']}>
                {t('domains.proof.lookedAt')} <Time at={lookedAt} />
              </span>
            )}
            {nextLookAt !== null && (
              <span className={classes['when']}>
                {t('domains.proof.nextLookAt')} <Time at={nextLookAt} />
              </span>
            )}
          </span>
        </dd>
      </dl>
      <div className={classes['buttons']}>
        {isProven && can(domains.status) && (
          <Button
            loading={isTurning}
            leftSection={<IconPower size={15} stroke={1.6} />}
            onClick={() => void turn(true)}
          >
            {t('common.turnOn')}
          </Button>
        )}
        {!isProven && can(domains.checkProof) && (
          <Button
            variant="default"
            loading={running}
            leftSection={<IconRefresh size={15} stroke={1.6} />}
            onClick={() => void run({ params: { siteId }, body: { ids: [domain.id] } })}
          >
            {t('domains.proof.again')}
          </Button>
        )}
      </div>
    </section>
  );
}

/** In lists: opens the record. */
export function WaitingForProof({ domain }: { domain: Domain }) {
  const t = useT();
  const overlay = useOverlay();
  return (
    <button
      type="button"
      className={classes['waiting']}
      aria-label={t('domains.proof.show', { name: domain.name })}
      onClick={() => overlay(<CurrentProof domain={domain} />, { title: 'domains.proof.title' })}
    >
      <Status kind="proof" value="waiting" />
    </button>
  );
}

/** Loads the domain, because a drawer keeps the row that it was opened with. */
function CurrentProof({ domain }: { domain: Domain }) {
  const params = { siteId: domain.siteID, domainId: domain.id };
  const { data } = useEndpoint(domains.get, { params });
  return (
    <div className={classes['drawer']}>
      <p className={classes['name']}>{domain.name}</p>
      <NameProof domain={data ?? domain} />
    </div>
  );
}
