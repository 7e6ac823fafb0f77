import { ports } from '@edgeloom/contract/ports/ports.endpoints.ts';
import { Switch } from '@mantine/core';
import { useState } from 'react';
import { useSiteId } from '../../components/frame/site-scope.ts';
import { turnOff, turnOn } from '../../components/resource-table/actions.tsx';
import { useRunAction } from '../../components/resource-table/run-actions.tsx';
import { t, useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import type { Port } from './forward-form.tsx';

export const listenOf = ({ port, protocol }: Port) => `${port}/${protocol}`;

export const on = turnOn<Port, typeof ports.status>(ports.status, { applies: ({ enabled }) => !enabled });
export const off = turnOff<Port, typeof ports.status>(ports.status, {
  applies: ({ enabled }) => enabled,
  confirm: (names) => ({ title: t('ports.turnOffTitle', { count: names.length }), points: [t('ports.turnOffPoint')] }),
});

/** Enabling is immediate; disabling asks, because connections end. */
export function SwitchForward({ forward }: { forward: Port }) {
  const t = useT();
  const can = useCan();
  const siteId = useSiteId();
  const run = useRunAction<Port>();
  const [running, setRunning] = useState(false);
  const turn = async (enabled: boolean) => {
    setRunning(true);
    await run(enabled ? on : off, { rows: [forward], nameOf: listenOf, params: { siteId } });
    setRunning(false);
  };
  return (
    <Switch
      aria-label={t('ports.switchLabel', { name: listenOf(forward) })}
      checked={forward.enabled}
      disabled={running || !can(ports.status)}
      onChange={(event) => void turn(event.currentTarget.checked)}
    />
  );
}
