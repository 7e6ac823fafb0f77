import { clock, count, dateOf } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { Nothing } from '../../components/values/values.tsx';
import { gapOf, type EdgeNode } from './node-states.ts';
import classes from './nodes.module.css';

/** `48,213`, or `48,209 −4 · 14:29:51` for a node that is behind. */
export function Serial({
  node,
}: {
  node: Pick<EdgeNode, 'initialized' | 'currentSerial' | 'latestSerial' | 'syncedAt'>;
}) {
  const t = useT();
  if (!node.initialized) return <Nothing />;
  const gap = gapOf(node);
  if (gap === 0) return <>{count(node.currentSerial)}</>;
  const synced = dateOf(node.syncedAt);
  return (
    <span className={classes['behind']} title={t('nodes.gap', { count: count(gap) })}>
      <b>{count(node.currentSerial)}</b> {count(-gap)}
      {synced && ` · ${clock(synced)}`}
    </span>
  );
}
