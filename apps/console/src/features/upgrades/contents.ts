import { count } from '../../lib/format.ts';
import type { T } from '../../lib/i18n.ts';

/** Number of networks per firewall level in a risk pack. */
export const contentsOf = (levels: readonly { level: number; networks: number }[], t: T) =>
  levels
    .map(({ level, networks }) => t('upgrades.level', { level, networks: count(networks) }))
    .join(t('common.semicolon'));
