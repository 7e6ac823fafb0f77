// Permissions in forms and lists of this console.
import { areasOf, type Area, type Permission } from '@edgeloom/contract/permissions.ts';
import { family } from './family.ts';
import { t } from './i18n.ts';

export const areas: readonly Area[] = areasOf[family];
export const areaName = (area: Area) => t(`permissions.areas.${area}`);

const reading = (area: Area): Permission => `${area}:read`;
const writing = (area: Area): Permission => `${area}:write`;

/** Access to an area: none, read, or read and write. */
export type Level = 'none' | 'read' | 'write';
export const levelOf = (permissions: readonly string[], area: Area): Level => {
  if (permissions.includes(writing(area))) return 'write';
  return permissions.includes(reading(area)) ? 'read' : 'none';
};

/** A copy with one area at another level; write includes read. */
export const withLevel = (permissions: readonly string[], area: Area, level: Level): string[] => [
  ...permissions.filter((permission) => permission !== reading(area) && permission !== writing(area)),
  ...(level === 'none' ? [] : [reading(area)]),
  ...(level === 'write' ? [writing(area)] : []),
];

/** "Change: sites, domains. Read: logs", or shorter for all or none. */
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
