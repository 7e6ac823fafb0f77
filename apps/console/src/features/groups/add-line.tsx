import { Select } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useMemo } from 'react';
import { useT } from '../../lib/i18n.ts';
import { allLines, lineName } from './line-name.ts';

/** An empty line exists only on the board until a node is added. */
export function AddLine({ taken, onAdd }: { taken: readonly string[]; onAdd: (line: string) => void }) {
  const t = useT();
  const data = useMemo(
    () =>
      allLines()
        .filter((line) => !taken.includes(line))
        .map((line) => ({ value: line, label: lineName(line) })),
    [taken],
  );
  return (
    <Select
      aria-label={t('groups.addLine')}
      data-creates="line"
      placeholder={t('groups.addLine')}
      leftSection={<IconPlus size={14} stroke={1.8} />}
      data={data}
      value={null}
      searchable
      maw={260}
      nothingFoundMessage={t('common.states.nothingMatches')}
      onChange={(line) => line && onAdd(line)}
    />
  );
}
