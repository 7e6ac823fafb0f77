import { NumberInput, Select } from '@mantine/core';
import { useState } from 'react';
import { useField } from '../../components/resource-form/form-state.ts';
import { useT } from '../../lib/i18n.ts';
import classes from './sites.module.css';

const sources = ['product', 'unlimited', 'own'] as const;
type Source = (typeof sources)[number];
const isSource = (text: string | null): text is Source => sources.some((source) => source === text);

const sourceOf = (value: unknown): Source => (value === null ? 'product' : value === 0 ? 'unlimited' : 'own');
/** An own limit starts empty, which the schema refuses until it is typed. */
const startOf = { product: null, unlimited: 0, own: '' } as const;

/** A limit of a site: null is the product's, 0 is unlimited. */
export function OwnLimitField({ name, suffix }: { name: string; suffix?: string }) {
  const t = useT();
  const { value, set, input } = useField(name);
  const [source, setSource] = useState(() => sourceOf(value));
  return (
    <div className={classes['ownLimit']}>
      <Select
        {...input}
        error={source === 'own' ? null : input.error}
        data={sources.map((one) => ({ value: one, label: t(`sites.limitSource.${one}`) }))}
        value={source}
        allowDeselect={false}
        onChange={(next) => {
          if (!isSource(next)) return;
          setSource(next);
          set(startOf[next]);
        }}
      />
      {source === 'own' && (
        <NumberInput
          aria-label={t('sites.limitOf', { field: input.label })}
          error={input.error}
          disabled={input.disabled}
          onBlur={input.onBlur}
          value={typeof value === 'number' ? value : ''}
          onChange={(next) => set(typeof next === 'number' ? next : '')}
          allowDecimal={false}
          clampBehavior="none"
          thousandSeparator=","
          min={1}
          {...(suffix !== undefined && { suffix })}
        />
      )}
    </div>
  );
}
