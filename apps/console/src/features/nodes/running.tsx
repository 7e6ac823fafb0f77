import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { Button } from '@mantine/core';
import { IconFileCode } from '@tabler/icons-react';
import { useState } from 'react';
import { Section } from '../../components/page/section.tsx';
import { Fact, Facts } from '../../components/page/facts.tsx';
import { Await } from '../../components/states/await.tsx';
import { Copy } from '../../components/values/copy.tsx';
import { Bytes, Nothing } from '../../components/values/values.tsx';
import { count } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { isConnected } from './figures.ts';
import type { EdgeNode } from './node-states.ts';
import classes from './nodes.module.css';

/** Configuration files that nginx runs now, requested from the machine. */
export function Running({ node }: { node: EdgeNode }) {
  const t = useT();
  const [isOpen, setIsOpen] = useState(false);
  if (!isConnected(node)) return null;
  return (
    <Section title="nodes.running.title" why="nodes.running.why">
      {isOpen ? (
        <Files nodeID={node.id} />
      ) : (
        <div>
          <Button
            variant="default"
            leftSection={<IconFileCode size={15} stroke={1.6} />}
            onClick={() => setIsOpen(true)}
          >
            {t('nodes.running.show')}
          </Button>
        </div>
      )}
    </Section>
  );
}

function Files({ nodeID }: { nodeID: string }) {
  const t = useT();
  const found = useEndpoint(nodes.running, { params: { nodeID } }, { pollMs: 10_000 });
  return (
    <Await result={found}>
      {({ generation, documents, files }) => (
        <>
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
        </>
      )}
    </Await>
  );
}
