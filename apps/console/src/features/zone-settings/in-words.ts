import type { SettingChange, SnippetFaultAt } from '@edgeloom/contract/zone-settings/zone-settings.ts';
import { bytes, count } from '../../lib/format.ts';
import { tMaybe, type useT } from '../../lib/i18n.ts';

type T = ReturnType<typeof useT>;

export const fieldName = (t: T, field: string) =>
  tMaybe(`zoneSettings.fields.${field.split('.').at(-1)}`) ?? t('zoneSettings.title');

/** A value as it is read; of a snippet or a list how many lines it has. */
export function valueText(t: T, field: string, value: string): string {
  const name = field.split('.').at(-1) ?? '';
  if (value === 'true') return t('common.on');
  if (value === 'false') return t('common.off');
  if (['http', 'stream', 'worker', 'custom', 'whitelist', 'blacklist'].includes(name))
    return t('zoneSettings.lines', { count: value === '' ? 0 : value.trimEnd().split('\n').length });
  if (name.endsWith('Bytes')) return value === '0' ? t('zoneSettings.noLimit') : bytes(Number(value));
  if (name === 'cacheInactiveSeconds') return t('zoneSettings.days', { count: Math.round(Number(value) / 86_400) });
  if (name === 'soakSeconds') return t('zoneSettings.seconds', { count: Number(value) });
  if (name === 'workerProcesses' && value === '0') return t('zoneSettings.perCore');
  return /^\d{4,}$/.test(value) ? count(Number(value)) : value;
}

export const changeText = (t: T, { field, before, after }: SettingChange) =>
  `${fieldName(t, field)} ${valueText(t, field, before)} → ${valueText(t, field, after)}`;

export const faultText = (t: T, { rule, about }: Pick<SnippetFaultAt, 'rule' | 'about'>) =>
  t(`zoneSettings.faults.${rule}`, { about });
