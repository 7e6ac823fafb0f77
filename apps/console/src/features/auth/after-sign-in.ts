import { offersDnsSetup } from '../../lib/dns-setup.ts';
import { ownPath, to } from '../../lib/family.ts';
import { useSession } from '../../stores/session.ts';

/** The page to return to, or the dashboard. An operator without DNS gets the DNS setup once. */
export function afterSignIn(search: URLSearchParams) {
  const next = ownPath(search.get('next'));
  const { account } = useSession.getState();
  return offersDnsSetup(account) ? `${to('DNSSetting')}?${new URLSearchParams({ next })}` : next;
}
