import type { Endpoint } from '@edgeloom/contract/endpoint.ts';
import { useSession, type Account } from '../stores/session.ts';

interface Asked {
  can: Endpoint['can'];
  own?: Endpoint['own'] | undefined;
}

const mayCall = (account: Account | null, { can, own }: Asked) => {
  if (can === 'anyone') return true;
  // What is the owner's own is nobody's who acts as them.
  if (account === null || (own && account.proxy !== null)) return false;
  return can === 'signedIn' || account.permissions.includes(can);
};

/** May the account that is signed in call this endpoint? The server asks again. */
export function useCan() {
  const account = useSession((session) => session.account);
  return (endpoint: Asked) => mayCall(account, endpoint);
}
