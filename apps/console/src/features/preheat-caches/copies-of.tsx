import { preheatCaches } from '@edgeloom/contract/preheat-caches/preheat-caches.endpoints.ts';
import { Await } from '../../components/states/await.tsx';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { Time } from '../../components/values/values.tsx';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import classes from './preheat-caches.module.css';

const tones = { stored: 'ok', waiting: 'busy', notStored: 'warn', failed: 'bad', resting: 'off' } as const;

/** Cache state of a URL on each node, with the reason when missing. */
export function CopiesOf({ zoneId, preheatId, url }: { zoneId: string; preheatId: string; url: string }) {
  const t = useT();
  const found = useEndpoint(preheatCaches.copies, { params: { zoneId, preheatId } }, { pollMs: 5000 });
  return (
    <div className={classes['copies']}>
      <p className={classes['url']}>{url}</p>
      <Await result={found}>
        {({ data }) =>
          data.length === 0 ? (
            <p>{t('preheatCaches.noNodes')}</p>
          ) : (
            <ul>
              {data.map(({ nodeID, nodeName, state, fault, dueAt }) => (
                <li key={nodeID}>
                  <StatusMark tone={tones[state]} />
                  <b>{nodeName}</b>
                  <span>{t(`preheatCaches.choices.copy.${state}`)}</span>
                  {state !== 'resting' && (
                    <small>
                      {t('preheatCaches.looksAt')} <Time at={dueAt} />
                    </small>
                  )}
                  {(fault !== null || state === 'notStored') && (
                    <p className={classes['fault']}>{fault ?? t('preheatCaches.noFault')}</p>
                  )}
                </li>
              ))}
            </ul>
          )
        }
      </Await>
    </div>
  );
}
