// What may be allowed in this console, as its forms and lists show it.
import { areasOf, type Area, type Permission } from '@edgeloom/contract/permissions.ts';
import { family } from './family.ts';
import { t } from './i18n.ts';

export const areas: readonly Area[] = areasOf[family];
export const areaName = (area: Area) => t(`permissions.areas.${area}`);

export const reading = (area: Area): Permission => `${area}:read`;
export const writing = (area: Area): Permission => `${area}:write`;

/** Of an area: nothing, reading, or both. */
export type Level = 'none' | 'read' | 'write';
export const levelOf = (permissions: readonly string[], area: Area): Level => {
  if (permissions.includes(writing(area))) return 'write';
  return permissions.includes(reading(area)) ? 'read' : 'none';
};

/** The same with one area at another level; whoever may write may read. */
export const withLevel = (permissions: readonly string[], area: Area, level: Level): string[] => [
  ...permissions.filter((permission) => permission !== reading(area) && permission !== writing(area)),
  ...(level === 'none' ? [] : [reading(area)]),
  ...(level === 'write' ? [writing(area)] : []),
];

/** "Change: sites, domains. Read: logs", and shorter where it is all or nothing. */
export function permissionsInWords(permissions: readonly string[]): string {
  const at = (level: Level) => areas.filter((area) => levelOf(permissions, area) === level);
  const [changed, read] = [at('write'), at('read')];
  if (changed.length === areas.length) return t('permissions.everything');
  if (changed.length + read.length === 0) return t('permissions.none');
  const named = (list: readonly Area[]) => list.map(areaName).join(t('common.comma'));
  return [
    ...(changed.length > 0 ? [t('permissions.changes', { areas: named(changed) })] : []),
    ...(read.length > 0 ? [t('permissions.reads', { areas: named(read) })] : []),
  ].join(' · ');
}
