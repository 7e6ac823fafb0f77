import type { Endpoint } from '@edgeloom/contract/endpoint.ts';
import { Button } from '@mantine/core';
import { IconArrowsExchange } from '@tabler/icons-react';
import { useSearchParams } from 'react-router-dom';
import { time } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { useMetaSearch, type Choice } from '../../lib/use-meta.ts';
import { MetaSelect } from '../fields/meta-select.tsx';
import classes from './differences.module.css';

export interface Sides {
  from: number;
  to: number;
}

interface VersionPairProps extends Sides {
  /** Searches versions by number, account and reason. */
  meta: Endpoint;
  params: Readonly<Record<string, string>>;
  /** The state before the oldest version. */
  base?: Choice | null;
  choose: (sides: Sides) => void;
}

/** Which two versions are compared, and which of them comes first. */
export function VersionPair({ from, to, choose, ...versions }: VersionPairProps) {
  const t = useT();
  return (
    <div className={classes['pair']}>
      <Picker
        {...versions}
        label={t('versions.from')}
        value={from}
        onChange={(version) => choose({ from: version, to })}
      />
      <Button
        variant="default"
        aria-label={t('versions.swap')}
        title={t('versions.swap')}
        onClick={() => choose({ from: to, to: from })}
      >
        <IconArrowsExchange size={16} stroke={1.6} />
      </Button>
      <Picker {...versions} label={t('versions.to')} value={to} onChange={(version) => choose({ from, to: version })} />
    </div>
  );
}

interface PickerProps extends Pick<VersionPairProps, 'meta' | 'params' | 'base'> {
  label: string;
  value: number;
  onChange: (version: number) => void;
}

function Picker({ meta, params, base = null, label, value, onChange }: PickerProps) {
  const id = String(value);
  const found = useMetaSearch(meta, {
    params,
    chosen: [id],
    known: base ? [base] : [],
    label: labelOf,
  });
  const isListed =
    base === null || found.question !== '' || [...found.page, ...found.chosen].some((one) => one.value === base.value);
  const choices = isListed ? found : { ...found, page: [...found.page, base] };
  return (
    <MetaSelect
      label={label}
      choices={choices}
      value={id}
      allowDeselect={false}
      onChange={(version) => version !== null && onChange(Number(version))}
    />
  );
}

const labelOf = (row: { id: string; name: string }) =>
  [row.id, 'at' in row && typeof row.at === 'string' ? time(row.at) : '', row.name].filter(Boolean).join(' · ');

/** The two versions are in the URL, so that a comparison can be shared as a link. */
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
