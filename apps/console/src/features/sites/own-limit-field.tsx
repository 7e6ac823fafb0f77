import { NumberInput, Select } from '@mantine/core';
import { useField } from '../../components/resource-form/form-state.ts';
import { useT } from '../../lib/i18n.ts';
import classes from './sites.module.css';

const sources = ['unchanged', 'product', 'unlimited', 'own'] as const;
type Source = (typeof sources)[number];
const isSource = (text: string | null): text is Source => sources.some((source) => source === text);

const sourceOf = (value: unknown): Source =>
  value === undefined ? 'unchanged' : value === null ? 'product' : value === 0 ? 'unlimited' : 'own';
/** An own limit starts empty, which the schema refuses until it is typed. */
const startOf = { unchanged: undefined, product: null, unlimited: 0, own: '' } as const;

interface OwnLimitFieldProps {
  name: string;
  suffix?: string;
  /** Whether the sites have different limits, which may stay. */
  differs: boolean;
}

/** A limit of sites: undefined stays, null is the product's, 0 is unlimited. */
export function OwnLimitField({ name, suffix, differs }: OwnLimitFieldProps) {
  const t = useT();
  const { value, set, input } = useField(name);
  const source = sourceOf(value);
  const offered = sources.filter((one) => differs || one !== 'unchanged');
  return (
    <div className={classes['ownLimit']}>
      <Select
        {...input}
        error={source === 'own' ? null : input.error}
        data={offered.map((one) => ({ value: one, label: t(`sites.limitSource.${one}`) }))}
        value={source}
        allowDeselect={false}
        onChange={(next) => {
          if (isSource(next)) set(startOf[next]);
        }}
      />
      {source === 'own' && (
        <NumberInput
          // As high as the other's label, so that both boxes are in a line.
          label={'\u00a0'}
          aria-label={t('sites.limitOf', { field: input.label })}
          error={input.error}
          disabled={input.disabled}
          onBlur={input.onBlur}
          value={typeof value === 'number' ? value : ''}
          // 0 would be unlimited, which has a choice of its own.
          onChange={(next) => set(typeof next === 'number' && next !== 0 ? next : '')}
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
