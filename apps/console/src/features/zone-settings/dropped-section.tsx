import { zoneFirewall } from '@edgeloom/contract/zone-firewall/zone-firewall.endpoints.ts';
import { IconShieldOff } from '@tabler/icons-react';
import { DroppedTable } from '../../components/dropped/dropped-table.tsx';
import classes from '../../components/dropped/dropped.module.css';
import { Section } from '../../components/page/section.tsx';
import { Await } from '../../components/states/await.tsx';
import { EmptyState } from '../../components/states/states.tsx';
import { Time } from '../../components/values/values.tsx';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';

/** Nodes report with each heartbeat. */
const POLL_MS = 10_000;

/** Packets dropped by the zone's firewall, summed over its nodes. */
export function DroppedSection({ zoneId }: { zoneId: string }) {
  const t = useT();
  const result = useEndpoint(zoneFirewall.dropped, { params: { zoneId } }, { pollMs: POLL_MS });
  return (
    <Section title="dropped.title" why="dropped.why" wide>
      <Await result={result}>
        {({ nodes, of, since, ...dropped }) =>
          nodes === 0 ? (
            <EmptyState icon={IconShieldOff} title={t('dropped.none')} text={t('dropped.noneWhy')} />
          ) : (
            <>
              <DroppedTable dropped={dropped} />
              <p className={classes['note']}>
                {t('dropped.nodes', { nodes, of })}{' '}
                {since !== null && (
                  <>
                    {t('dropped.since')} <Time at={since} />
                  </>
                )}
              </p>
            </>
          )
        }
      </Await>
    </Section>
  );
}
