import { prefer, usePreferences } from '../stores/preferences.ts';
import type { Account } from '../stores/session.ts';

/** True for an operator without DNS. Only the root account can set DNS up. */
export const lacksDns = (account: Account | null): account is Account =>
  account !== null && account.auth === 'client' && account.isRoot && account.dnsType === null;

/** The setup opens once after sign-in; later the banner and the menu link to it. */
export const offersDnsSetup = (account: Account | null) =>
  lacksDns(account) && account.proxy === null && usePreferences.getState().dnsSetup[account.id] === undefined;

export const noteDnsSetup = (account: Account, state: 'offered' | 'hidden') =>
  prefer(({ dnsSetup }) => ({ dnsSetup: { ...dnsSetup, [account.id]: state } }));
