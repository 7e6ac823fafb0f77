import { currentCache } from '@edgeloom/contract/cache/cache.endpoints.ts';
import { IconDatabase } from '@tabler/icons-react';
import { Fact, Facts } from '../../components/page/facts.tsx';
import { Section } from '../../components/page/section.tsx';
import { Await } from '../../components/states/await.tsx';
import { EmptyState } from '../../components/states/states.tsx';
import { Bytes, Count, Time } from '../../components/values/values.tsx';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import classes from './cache.module.css';

/** Cache usage of the site on its nodes, with the time of the figure. */
export function CurrentTab({ siteId }: { siteId: string }) {
  const t = useT();
  const found = useEndpoint(currentCache.get, { params: { siteId } }, { pollMs: 30_000 });
  return (
    <Await result={found}>
      {({ objects, bytes, measuredAt, nodes }) =>
        measuredAt === null ? (
          <EmptyState icon={IconDatabase} title={t('cache.current.none')} text={t('cache.current.why')} />
        ) : (
          <>
            <Section title="cache.current.title" why="cache.current.why" wide>
              <Facts>
                <Fact term={t('cache.current.bytes')}>
                  <Bytes of={bytes} />
                </Fact>
                <Fact term={t('cache.current.objects')}>
                  <Count of={objects} />
                </Fact>
                <Fact term={t('cache.current.measuredAt')}>
                  <Time at={measuredAt} />
                </Fact>
              </Facts>
            </Section>
            <Section title="cache.current.nodes" wide>
              <table className={classes['nodes']}>
                <thead>
                  <tr>
                    <th>{t('cache.current.node')}</th>
                    <th data-right>{t('cache.current.bytes')}</th>
                    <th data-right>{t('cache.current.objects')}</th>
                    <th>{t('cache.current.measuredAt')}</th>
                  </tr>
                </thead>
                <tbody>
                  {nodes.map((node) => (
                    <tr key={node.nodeName}>
                      <td>{node.nodeName}</td>
                      <td data-right>
                        <Bytes of={node.bytes} />
                      </td>
                      <td data-right>
                        <Count of={node.objects} />
                      </td>
                      <td>
                        <Time at={node.measuredAt} />
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </Section>
          </>
        )
      }
    </Await>
  );
}
