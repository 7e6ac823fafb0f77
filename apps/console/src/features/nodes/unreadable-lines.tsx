import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { Section } from '../../components/page/section.tsx';
import { Await } from '../../components/states/await.tsx';
import { Time } from '../../components/values/values.tsx';
import { count as formatted } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { VisitorText } from '../logs/visitor-text.tsx';
import type { EdgeNode } from './node-states.ts';
import classes from './nodes.module.css';

interface UnreadableLinesProps {
  node: EdgeNode;
  /** Since the node was created. */
  count: number;
}

/** Access log lines of the node that failed to parse. */
export function UnreadableLines({ node, count }: UnreadableLinesProps) {
  const t = useT();
  const can = useCan();
  const text = t('nodes.unreadable.count', { count, number: formatted(count) });
  return (
    <Section title="nodes.unreadable.title" why="nodes.unreadable.why">
      <div className={classes['wide']}>
        {can(nodes.unreadableLines) ? (
          <details>
            <summary>{text}</summary>
            <Lines key={count} node={node} />
          </details>
        ) : (
          text
        )}
      </div>
    </Section>
  );
}

function Lines({ node }: Pick<UnreadableLinesProps, 'node'>) {
  const t = useT();
  const found = useEndpoint(nodes.unreadableLines, { params: { nodeID: node.id } });
  return (
    <Await result={found}>
      {({ data, dropped }) => (
        <>
          {data.length > 0 && (
            <table className={classes['rejected']}>
              <caption className="hidden-text">{t('nodes.unreadable.title')}</caption>
              <thead>
                <tr>
                  <th scope="col">{t('nodes.unreadable.at')}</th>
                  <th scope="col">{t('nodes.unreadable.kind')}</th>
                  <th scope="col">{t('nodes.unreadable.line')}</th>
                </tr>
              </thead>
              <tbody>
                {data.toReversed().map(({ at, kind, line }, i) => (
                  <tr key={i}>
                    <td>
                      <Time at={at} />
                    </td>
                    <td className={classes['logKind']}>{t(`nodes.unreadable.kinds.${kind}`)}</td>
                    <td>
                      <code className={classes['line']}>
                        <VisitorText text={line} />
                      </code>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
          {dropped > 0 && <p>{t('nodes.unreadable.dropped', { count: dropped, number: formatted(dropped) })}</p>}
        </>
      )}
    </Await>
  );
}
