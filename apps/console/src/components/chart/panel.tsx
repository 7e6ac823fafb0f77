import { ActionIcon, Menu } from '@mantine/core';
import { IconChartLine, IconDownload } from '@tabler/icons-react';
import { useId, type ReactNode } from 'react';
import { Await } from '../states/await.tsx';
import { clock } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import type { Result } from '../../lib/use-endpoint.ts';
import classes from './panel.module.css';

interface PanelProps {
  title: string;
  /** Beside the title: the legend, or a note. */
  beside?: ReactNode;
  tools?: ReactNode;
  tall?: boolean;
  children: ReactNode;
}

export function Panel({ title, beside, tools, tall = false, children }: PanelProps) {
  const id = useId();
  return (
    <section className={classes['panel']} aria-labelledby={id} data-tall={tall || undefined}>
      <header className={classes['panelHead']}>
        <h2 id={id}>{title}</h2>
        {beside}
        {tools && <div className={classes['tools']}>{tools}</div>}
      </header>
      {children}
    </section>
  );
}

/** Like Await, but new data replaces the old in place, so that charts are not mounted again. */
export function Loaded<T>({ result, children }: { result: Result<T>; children: (data: T) => ReactNode }) {
  const t = useT();
  if (result.data === undefined) return <Await result={result}>{children}</Await>;
  return (
    <div className={classes['loaded']} data-loaded data-refreshing={result.refreshing || undefined}>
      {result.stale && (
        <p className={classes['note']}>{t('shared.table.asOf', { time: clock(new Date(result.at)) })}</p>
      )}
      {children(result.data)}
    </div>
  );
}

/** A remark in the head of a panel. */
export const Note = ({ children }: { children: ReactNode }) => <span className={classes['note']}>{children}</span>;

export function NoData({ explained = false }: { explained?: boolean }) {
  const t = useT();
  return (
    <div className={classes['none']}>
      <IconChartLine size={22} stroke={1.5} aria-hidden />
      <b>{t('charts.none')}</b>
      {explained && <span>{t('statistics.noneWhy')}</span>}
    </div>
  );
}

interface DownloadProps {
  /** Title of the panel. */
  of: string;
  csv: () => void;
  png?: (() => void) | undefined;
}

export function Download({ of, csv, png }: DownloadProps) {
  const t = useT();
  const label = t('statistics.download', { name: of });
  const icon = <IconDownload size={16} stroke={1.6} />;
  if (!png)
    return (
      <ActionIcon aria-label={`${label} (CSV)`} title="CSV" onClick={csv}>
        {icon}
      </ActionIcon>
    );
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon aria-label={label}>{icon}</ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={csv}>{t('statistics.asCsv')}</Menu.Item>
        <Menu.Item onClick={png}>{t('statistics.asPng')}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
