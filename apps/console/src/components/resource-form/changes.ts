import { t } from '../../lib/i18n.ts';
import type { Values } from './form-state.ts';

const isPlain = (value: unknown): value is string | number | boolean =>
  ['string', 'number', 'boolean'].includes(typeof value);
export const written = (value: unknown) => {
  if (typeof value === 'boolean') return t(value ? 'common.yes' : 'common.no');
  return value === '' || value === null || value === undefined ? '—' : isPlain(value) ? String(value) : null;
};

/** Units of sizes are known to their fields only. */
const textOf = (name: string, value: unknown) => (name.endsWith('Bytes') ? null : written(value));

/** `max fails 3 → 5`; for a list only its name. */
export function changesInWords(before: Values, after: Values, titleOf: (name: string) => string): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names
    .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
    .map((name) => {
      const [from, to] = [textOf(name, before[name]), textOf(name, after[name])];
      return from !== null && to !== null
        ? t('common.form.changed', { name: titleOf(name), from, to })
        : t('common.form.changedTo', { name: titleOf(name) });
    });
}
