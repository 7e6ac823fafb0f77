import { Radio } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { useT } from '../../lib/i18n.ts';
import { fieldTitle } from '../resource-table/columns.tsx';
import { written } from './changes.ts';
import type { Conflict } from './conflict.ts';
import type { Values } from './form-state.ts';
import classes from './resource-form.module.css';

interface ConflictPanelProps {
  conflict: Conflict;
  words: string;
  values: Values;
  choose: (name: string, value: unknown) => void;
}

/** Shows both versions of each conflicting field. Saving again applies the choice. */
export function ConflictPanel({ conflict: { fields, taken }, words, values, choose }: ConflictPanelProps) {
  const t = useT();
  const panel = useRef<HTMLDivElement>(null);
  useEffect(() => panel.current?.focus(), []);
  return (
    <div ref={panel} className={classes['conflict']} role="alert" tabIndex={-1}>
      <strong>{t('shared.conflict.title')}</strong>
      <span>{t(fields.length > 0 ? 'shared.conflict.choose' : 'shared.conflict.saveAgain')}</span>
      {taken.length > 0 && (
        <span>
          {t('shared.conflict.taken', { names: taken.map((name) => fieldTitle(words, name)).join(t('common.comma')) })}
        </span>
      )}
      {fields.map(({ name, theirs, yours }) => (
        <Radio.Group
          key={name}
          label={fieldTitle(words, name)}
          value={JSON.stringify(values[name]) === JSON.stringify(theirs) ? 'theirs' : 'yours'}
          onChange={(side) => choose(name, side === 'theirs' ? theirs : yours)}
        >
          <Radio value="theirs" size="xs" mt={8} label={`${t('shared.conflict.theirs')}: ${textOf(theirs)}`} />
          <Radio value="yours" size="xs" mt={8} label={`${t('shared.conflict.yours')}: ${textOf(yours)}`} />
        </Radio.Group>
      ))}
    </div>
  );
}

const textOf = (value: unknown) => written(value) ?? JSON.stringify(value);
