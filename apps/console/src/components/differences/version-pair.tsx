import { Button, Select } from '@mantine/core';
import { IconArrowsExchange } from '@tabler/icons-react';
import { useSearchParams } from 'react-router-dom';
import { useT } from '../../lib/i18n.ts';
import classes from './differences.module.css';

export interface Sides {
  from: number;
  to: number;
}

interface VersionPairProps extends Sides {
  data: { value: string; label: string }[];
  choose: (sides: Sides) => void;
}

/** Selects the two versions to compare. */
export function VersionPair({ from, to, data, choose }: VersionPairProps) {
  const t = useT();
  const picker = (label: string, value: number, set: (version: number) => void) => (
    <Select
      label={label}
      data={data}
      value={String(value)}
      allowDeselect={false}
      searchable
      onChange={(text) => text !== null && set(Number(text))}
    />
  );
  return (
    <div className={classes['pair']}>
      {picker(t('versions.from'), from, (version) => choose({ from: version, to }))}
      <Button
        variant="default"
        aria-label={t('versions.swap')}
        title={t('versions.swap')}
        onClick={() => choose({ from: to, to: from })}
      >
        <IconArrowsExchange size={16} stroke={1.6} />
      </Button>
      {picker(t('versions.to'), to, (version) => choose({ from, to: version }))}
    </div>
  );
}

/** The compared versions are stored in the URL, so that a comparison can be shared. */
export function useSides(): [Sides | null, (sides: Sides | null) => void] {
  const [search, setSearch] = useSearchParams();
  const [from, to] = [numberIn(search.get('from')), numberIn(search.get('to'))];
  const choose = (sides: Sides | null) =>
    setSearch((before) => {
      const next = new URLSearchParams(before);
      for (const side of ['from', 'to'] as const)
        if (sides) next.set(side, String(sides[side]));
        else next.delete(side);
      return next;
    });
  return [from === null || to === null ? null : { from, to }, choose];
}

const numberIn = (text: string | null) => (text !== null && /^\d{1,9}$/.test(text) ? Number(text) : null);
