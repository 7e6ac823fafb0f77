import type { ChartUnit } from '@edgeloom/contract/charts/charts.ts';
import { IconPlugConnectedX } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { ChartTable } from '../../components/chart/chart-table.tsx';
import { Chart } from '../../components/chart/chart.tsx';
import { liveOption } from '../../components/chart/live-option.ts';
import { DroppedTable } from '../../components/dropped/dropped-table.tsx';
import { Fact, Facts } from '../../components/page/facts.tsx';
import { Await } from '../../components/states/await.tsx';
import { EmptyState } from '../../components/states/states.tsx';
import { Bits } from '../../components/values/values.tsx';
import { bits, bytes, count, duration, percent } from '../../lib/format.ts';
import { useLanguage, useT, type Word } from '../../lib/i18n.ts';
import { isConnected, SPAN_MS, useFigures, type Figures } from './figures.ts';
import type { EdgeNode } from './node-states.ts';
import classes from './nodes.module.css';

interface TabProps {
  node: EdgeNode;
}
interface Shown {
  now: Figures;
  seen: readonly Figures[];
  node: EdgeNode;
}

/** Processor, memory, disk and network, every two seconds. */
export const PerformanceTab = ({ node }: TabProps) => <Live node={node}>{(shown) => <Performance {...shown} />}</Live>;
/** Connections, every two seconds. */
export const ConnectionsTab = ({ node }: TabProps) => <Live node={node}>{(shown) => <Connections {...shown} />}</Live>;

function Live({ node, children }: TabProps & { children: (shown: Shown) => ReactNode }) {
  const t = useT();
  const { result, seen } = useFigures(node);
  if (!isConnected(node))
    return <EmptyState icon={IconPlugConnectedX} title={t('nodes.live.away')} text={t('nodes.live.awayWhy')} />;
  return <Await result={result}>{(now) => children({ now, seen, node })}</Await>;
}

function Performance({ now, seen, node }: Shown) {
  const t = useT();
  const language = useLanguage();
  const limit = node.bandwidthMbps * 1e6;
  return (
    <>
      <div className={classes['panels']}>
        <Panel
          title="nodes.live.cpu"
          now={t('nodes.live.cpuNow', { share: percent(now.cpu), cores: count(now.cores) })}
          unit="share"
          seen={seen}
          series={[{ name: t('nodes.live.cpu'), of: ({ cpu }) => cpu }]}
          most={1}
        />
        <Panel
          title="nodes.live.memory"
          now={t('nodes.live.of', { used: bytes(now.memoryUsed), total: bytes(now.memoryTotal) })}
          unit="byte"
          seen={seen}
          series={[{ name: t('nodes.live.memory'), of: ({ memoryUsed }) => memoryUsed }]}
          most={Math.max(1, now.memoryTotal)}
        />
        <Panel
          title="nodes.live.network"
          now={t('nodes.live.networkNow', { sent: bits(now.sent), received: bits(now.received) })}
          unit="bit"
          seen={seen}
          series={[
            { name: t('nodes.live.sent'), of: ({ sent }) => sent },
            { name: t('nodes.live.received'), of: ({ received }) => received },
          ]}
          {...(limit > 0 && { most: limit })}
        />
        <Panel
          title="nodes.live.disk"
          now={t('nodes.live.of', { used: bytes(now.diskUsed), total: bytes(now.diskTotal) })}
          unit="byte"
          seen={seen}
          series={[{ name: t('nodes.live.disk'), of: ({ diskUsed }) => diskUsed }]}
          most={Math.max(1, now.diskTotal)}
        />
      </div>
      <div className={classes['below']}>
        <Facts>
          <Fact term={t('nodes.live.system')}>{now.system}</Fact>
          <Fact term={t('nodes.live.uptime')}>{duration(Math.floor(now.uptimeSeconds), language)}</Fact>
          <Fact term={t('nodes.live.loadAverages')}>
            {now.loadAverages.map((value) => value.toFixed(2)).join(' · ')}
          </Fact>
          {now.logs && (
            <Fact term={t('nodes.live.logsWaiting')}>
              {now.logs.droppedLines === 0
                ? bytes(now.logs.waitingBytes)
                : t('nodes.live.logsDropped', {
                    bytes: bytes(now.logs.waitingBytes),
                    count: now.logs.droppedLines,
                    number: count(now.logs.droppedLines),
                  })}
            </Fact>
          )}
          <Fact term={t('nodes.fields.bandwidthMbps')}>
            {limit > 0
              ? t('nodes.live.ofLimit', { limit: bits(limit), share: percent(now.sent / limit) })
              : t('nodes.live.noLimit')}
          </Fact>
        </Facts>
        <Interfaces rows={now.interfaces} />
        {now.dropped && (
          <section className={classes['dropped']}>
            <h2>{t('dropped.live')}</h2>
            <DroppedTable dropped={now.dropped} />
          </section>
        )}
      </div>
    </>
  );
}

function Connections({ now, seen }: Shown) {
  const t = useT();
  return (
    <>
      <div className={classes['panels']}>
        <Panel
          title="nodes.live.connections"
          now={count(now.connections)}
          unit="count"
          seen={seen}
          series={[{ name: t('nodes.live.connections'), of: ({ connections }) => connections }]}
        />
        <Panel
          title="nodes.live.sockets"
          now={t('nodes.live.socketsNow', { established: count(now.established), timeWait: count(now.timeWait) })}
          unit="count"
          seen={seen}
          series={[
            { name: t('nodes.live.established'), of: ({ established }) => established },
            { name: t('nodes.live.timeWait'), of: ({ timeWait }) => timeWait },
          ]}
        />
      </div>
      <div className={classes['below']}>
        <Facts>
          <Fact term={t('nodes.live.reading')}>{count(now.reading)}</Fact>
          <Fact term={t('nodes.live.writing')}>{count(now.writing)}</Fact>
          <Fact term={t('nodes.live.waiting')}>{count(now.waiting)}</Fact>
        </Facts>
      </div>
    </>
  );
}

interface PanelProps {
  title: Word;
  now: string;
  unit: ChartUnit;
  seen: readonly Figures[];
  series: readonly { name: string; of: (figures: Figures) => number }[];
  most?: number;
}
function Panel({ title, now, unit, seen, series, most }: PanelProps) {
  const t = useT();
  const times = seen.map(({ at }) => at);
  const drawn = series.map(({ name, of }) => ({ name, values: seen.map(of) }));
  const option = liveOption({ times, series: drawn, unit, spanMs: SPAN_MS, ...(most !== undefined && { most }) });
  return (
    <section className={classes['panel']}>
      <h2>{t(title)}</h2>
      <p>{now}</p>
      <Chart option={() => option} summary={t('nodes.live.summary', { title: t(title), now })} />
      <ChartTable title={t(title)} times={times} series={drawn} unit={unit} />
    </section>
  );
}

function Interfaces({ rows }: { rows: Figures['interfaces'] }) {
  const t = useT();
  if (rows.length === 0) return null;
  return (
    <table className={classes['rows']}>
      <thead>
        <tr>
          <th scope="col">{t('nodes.live.interface')}</th>
          <th scope="col">{t('nodes.live.sent')}</th>
          <th scope="col">{t('nodes.live.received')}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name, sent, received }) => (
          <tr key={name}>
            <td>{name}</td>
            <td>
              <Bits of={sent} />
            </td>
            <td>
              <Bits of={received} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
