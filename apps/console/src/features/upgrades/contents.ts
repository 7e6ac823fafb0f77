import { count } from '../../lib/format.ts';
import type { T } from '../../lib/i18n.ts';

/** What is in a pack: how much each level of a firewall drops by it. */
export const contentsOf = (levels: readonly { level: number; networks: number }[], t: T) =>
  levels
    .map(({ level, networks }) => t('upgrades.level', { level, networks: count(networks) }))
    .join(t('common.semicolon'));
