import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { useState } from 'react';
import { turnOff, turnOn } from '../../components/resource-table/actions.tsx';
import { useRunAction } from '../../components/resource-table/run-actions.tsx';
import { t } from '../../lib/i18n.ts';
import type { Domain } from './origins-draft.ts';

const refreshes = ['sites'];

/** Enabling is immediate. Disabling asks, because visitors get errors. Both can be undone. */
export const on = turnOn<Domain, typeof domains.status>(domains.status, {
  refreshes,
  done: 'domains.turnedOn',
  applies: ({ status }) => status === 0,
});
export const off = turnOff<Domain, typeof domains.status>(domains.status, {
  refreshes,
  done: 'domains.turnedOff',
  applies: ({ status }) => status === 1,
  confirm: (names) => ({
    title:
      names.length === 1
        ? t('domains.turnOffNamed', { name: names[0] ?? '' })
        : t('domains.turnOffTitle', { count: names.length }),
    points: [t('domains.turnOffPoint'), t('domains.turnOffKeeps')],
  }),
});

/** The same for one domain. */
export function useSwitchDomain(domain: Domain) {
  const run = useRunAction<Domain>();
  const [running, setRunning] = useState(false);
  const turn = async (enabled: boolean) => {
    setRunning(true);
    await run(enabled ? on : off, { rows: [domain], nameOf: ({ name }) => name, params: { siteId: domain.siteID } });
    setRunning(false);
  };
  return { turn, running };
}
