import type { Endpoint } from '@edgeloom/contract/endpoint.ts';
import { useSession, type Account } from '../stores/session.ts';

export const mayCall = (account: Account | null, { can }: Pick<Endpoint, 'can'>) =>
  can === 'anyone' || (account !== null && (can === 'signedIn' || account.permissions.includes(can)));

/** May the account that is signed in call this endpoint? The server asks again. */
export function useCan() {
  const account = useSession((session) => session.account);
  return (endpoint: Pick<Endpoint, 'can'>) => mayCall(account, endpoint);
}
