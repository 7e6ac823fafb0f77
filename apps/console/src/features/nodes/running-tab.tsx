import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { IconPlugConnectedX } from '@tabler/icons-react';
import { Section } from '../../components/page/section.tsx';
import { Fact, Facts } from '../../components/page/facts.tsx';
import { Await } from '../../components/states/await.tsx';
import { EmptyState } from '../../components/states/states.tsx';
import { Copy } from '../../components/values/copy.tsx';
import { Bytes, Nothing } from '../../components/values/values.tsx';
import { count } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { isConnected } from './figures.ts';
import type { EdgeNode } from './node-states.ts';
import classes from './nodes.module.css';

/** The files that its nginx runs at this moment, asked of the machine. */
export function RunningTab({ node }: { node: EdgeNode }) {
  const t = useT();
  const connected = isConnected(node);
  const found = useEndpoint(nodes.running, { params: { nodeID: node.id } }, { pollMs: 10_000, enabled: connected });
  if (!connected)
    return <EmptyState icon={IconPlugConnectedX} title={t('nodes.live.away')} text={t('nodes.live.awayWhy')} />;
  return (
    <Await result={found}>
      {({ generation, documents, files }) => (
        <Section title="nodes.running.title" why="nodes.running.why">
          <Facts>
            <Fact term={t('nodes.running.generation')}>{generation === null ? <Nothing /> : count(generation)}</Fact>
            <Fact term={t('nodes.running.documents')}>{count(documents)}</Fact>
          </Facts>
          <table className={classes['rows']}>
            <thead>
              <tr>
                <th scope="col">{t('nodes.running.file')}</th>
                <th scope="col">{t('nodes.running.size')}</th>
                <th scope="col">SHA-256</th>
              </tr>
            </thead>
            <tbody>
              {files.map(({ path, bytes, sha256 }) => (
                <tr key={path}>
                  <td>{path}</td>
                  <td>
                    <Bytes of={bytes} />
                  </td>
                  <td>
                    <Copy text={sha256}>{sha256.slice(0, 12)}</Copy>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Section>
      )}
    </Await>
  );
}
