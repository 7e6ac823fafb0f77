import type { SettingChange, SnippetFaultAt } from '@edgeloom/contract/zone-settings/zone-settings.ts';
import { FirewallLevel } from '@edgeloom/contract/zone-firewall/zone-firewall.ts';
import { count, nothing } from '../../lib/format.ts';
import { tMaybe, type useT } from '../../lib/i18n.ts';
import { linesBetween } from './lines-between.ts';

type T = ReturnType<typeof useT>;

/** Multi-line texts, which are never shown in full. */
const texts = ['http', 'stream', 'worker', 'custom', 'whitelist', 'blacklist', 'networks'];

/** Some sections have labels of their own. */
export function fieldName(t: T, field: string): string {
  const [part = '', name = part] = field.split('.');
  return tMaybe(`${part}.fields.${name}`) ?? tMaybe(`zoneSettings.fields.${name}`) ?? t('zoneSettings.title');
}

/** A formatted value; for a snippet or list its number of lines. */
export function valueText(t: T, field: string, value: string): string {
  const name = field.split('.').at(-1) ?? '';
  if (field === 'ports' || name === 'proxyProtocolPorts') return value || nothing;
  if (value === 'true') return t('common.on');
  if (value === 'false') return t('common.off');
  if (field.startsWith('antiCC.')) return antiCCText(t, name, value);
  if (field === 'ipset.timeout') return `${count(Number(value) / 60)}${t('ipset.minutesSuffix')}`;
  if (texts.includes(name))
    return t('zoneSettings.lines', { count: value === '' ? 0 : value.trimEnd().split('\n').length });
  if (field === 'visitorAddress.proxy') return tMaybe(`zoneSettings.choices.proxy.${value}`) ?? value;
  if (name === 'level') return t(`zoneSettings.levels.${FirewallLevel.parse(Number(value))}`);
  if (name.endsWith('Bytes')) return value === '0' ? t('common.unlimited') : sizeText(name, Number(value));
  if (name === 'cacheInactiveSeconds') return t('zoneSettings.days', { count: Math.round(Number(value) / 86_400) });
  if (name === 'soakSeconds') return t('zoneSettings.seconds', { count: Number(value) });
  if (name === 'workerProcesses' && value === '0') return t('zoneSettings.perCore');
  return /^\d{4,}$/.test(value) ? count(Number(value)) : value;
}

/** In the unit of the field. */
function sizeText(name: string, value: number): string {
  const [unit, size] = name === 'cacheBytes' ? (['GiB', 1024 ** 3] as const) : (['MiB', 1024 ** 2] as const);
  return `${count(value / size)}\u00a0${unit}`;
}

/** Added and removed lines: `+2 −1 lines`. */
export function linesText(t: T, { field, before, after }: SettingChange): string | null {
  const isText = texts.includes(field.split('.').at(-1) ?? '') || before.includes('\n') || after.includes('\n');
  const between = isText ? linesBetween(before, after) : null;
  if (between === null) return null;
  if (between === 'moved') return t('zoneSettings.linesMoved');
  const { added, removed } = between;
  const lines = [...(added > 0 ? [`+${count(added)}`] : []), ...(removed > 0 ? [`−${count(removed)}`] : [])].join(' ');
  return t('zoneSettings.linesChanged', { count: added + removed, lines });
}

function antiCCText(t: T, name: string, value: string): string {
  if (name === 'mode') return tMaybe(`antiCC.modes.${value}`) ?? value;
  if (name === 'difficulty') return tMaybe(`antiCC.difficulties.${value}`) ?? value;
  if (name === 'paths' || name === 'extensions') {
    const lines = value === '' ? [] : value.split('\n');
    return lines.length === 1 ? value : t('antiCC.count', { count: lines.length });
  }
  const minutes = name === 'passSeconds' || name === 'blockSeconds';
  return `${count(minutes ? Math.round(Number(value) / 60) : Number(value))}${tMaybe(`antiCC.units.${name}`) ?? ''}`;
}

export function changeText(t: T, change: SettingChange): string {
  const { field, before, after } = change;
  const difference = linesText(t, change) ?? `${valueText(t, field, before)} → ${valueText(t, field, after)}`;
  return `${fieldName(t, field)} ${difference}`;
}

export const faultText = (t: T, { rule, about }: Pick<SnippetFaultAt, 'rule' | 'about'>) =>
  t(`zoneSettings.faults.${rule}`, { about });
