import { ActionIcon, Button, SegmentedControl } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef, useState } from 'react';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { count } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { readableName } from '../../lib/readable-name.ts';
import classes from './add-domains.module.css';
import { verdictWord, type JudgedName } from './names.ts';

const LINE_PX = 32;

interface NameListProps {
  lines: readonly JudgedName[];
  repeated: number;
  onRemove: (names: ReadonlySet<string>) => void;
}

/** Lines with their state, counted and virtualized. */
export function NameList({ lines, repeated, onRemove }: NameListProps) {
  const t = useT();
  const [only, setOnly] = useState(false);
  const bad = lines.filter(({ fault }) => fault);
  const shown = only && bad.length > 0 ? bad : lines;
  const scroller = useRef<HTMLUListElement>(null);
  // oxlint-disable-next-line react/incompatible-library -- its values are used only in this render
  const virtualizer = useVirtualizer({
    count: shown.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => LINE_PX,
    overscan: 10,
  });
  const drawn = virtualizer.getVirtualItems();
  const wildcards = lines.filter(({ verdict }) => verdict === 'wildcard').length;
  const facts = [
    t('domains.add.tally.good', { count: count(lines.length - bad.length) }),
    wildcards > 0 && t('domains.add.tally.wildcards', { count: count(wildcards) }),
    repeated > 0 && t('domains.add.tally.repeated', { count: count(repeated) }),
  ].filter((fact) => fact !== false);
  return (
    <section className={classes['list']} aria-label={t('domains.add.lines')}>
      <header className={classes['tally']}>
        <output>
          {facts.join(' · ')}
          {bad.length > 0 && (
            <span className={classes['bad']}>
              {' · '}
              {t('domains.add.tally.bad', { count: count(bad.length) })}
            </span>
          )}
        </output>
        {bad.length > 0 && (
          <SegmentedControl
            size="xs"
            aria-label={t('domains.add.show')}
            data={[
              { value: 'all', label: t('domains.add.showAll') },
              { value: 'bad', label: t('domains.add.showBad') },
            ]}
            value={only ? 'bad' : 'all'}
            onChange={(value) => setOnly(value === 'bad')}
          />
        )}
      </header>
      <ul
        ref={scroller}
        className={classes['lines']}
        aria-label={t('domains.add.lines')}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- scrollable regions need keyboard access
        tabIndex={0}
      >
        <li aria-hidden style={{ height: drawn[0]?.start ?? 0 }} />
        {drawn.flatMap(({ index }) => {
          const line = shown[index];
          return line ? [<Line key={line.name} line={line} onRemove={onRemove} />] : [];
        })}
        <li aria-hidden style={{ height: virtualizer.getTotalSize() - (drawn.at(-1)?.end ?? 0) }} />
      </ul>
      {bad.length > 0 && (
        <footer className={classes['mends']}>
          <Button size="xs" variant="default" onClick={() => onRemove(new Set(bad.map(({ name }) => name)))}>
            {t('domains.add.dropBad', { count: bad.length })}
          </Button>
        </footer>
      )}
    </section>
  );
}

interface LineProps extends Pick<NameListProps, 'onRemove'> {
  line: JudgedName;
}

function Line({ line: { name, verdict, fault }, onRemove }: LineProps) {
  const t = useT();
  const readable = readableName(name);
  return (
    <li className={classes['line']}>
      <StatusMark tone={fault ? 'bad' : 'ok'} />
      <span className={classes['lineName']} title={name}>
        {readable === null ? name : `${readable} (${name})`}
      </span>
      <span className={classes['verdict']} data-bad={fault !== null || undefined}>
        {fault ?? t(verdictWord[verdict])}
      </span>
      {fault !== null && (
        <ActionIcon
          size={22}
          aria-label={t('domains.add.dropLine', { name })}
          onClick={() => onRemove(new Set([name]))}
        >
          <IconX size={14} stroke={1.6} />
        </ActionIcon>
      )}
    </li>
  );
}
