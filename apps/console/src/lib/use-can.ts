import type { Endpoint } from '@edgeloom/contract/endpoint.ts';
import { useSession, type Account } from '../stores/session.ts';

interface Asked {
  can: Endpoint['can'];
  own?: Endpoint['own'] | undefined;
}

const mayCall = (account: Account | null, { can, own }: Asked) => {
  if (can === 'anyone') return true;
  // Owner-only calls are not available to a switched account.
  if (account === null || (own && account.proxy !== null)) return false;
  return can === 'signedIn' || account.permissions.includes(can);
};

/** Whether the account may call an endpoint. The server checks again. */
export function useCan() {
  const account = useSession((session) => session.account);
  return (endpoint: Asked) => mayCall(account, endpoint);
}
