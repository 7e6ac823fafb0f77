import { Menu } from '@mantine/core';
import { useT } from '../../lib/i18n.ts';
import type { BlockDuration } from './use-address-lists.ts';

const durations = ['hour', 'day', 'week', 'forever'] as const satisfies readonly BlockDuration[];

/** Menu items that block an address, one for each duration. */
export function BlockItems({ block }: { block: (duration: BlockDuration) => void }) {
  const t = useT();
  return durations.map((duration) => (
    <Menu.Item key={duration} onClick={() => block(duration)}>
      {t(`blockIPs.durations.${duration}`)}
    </Menu.Item>
  ));
}
