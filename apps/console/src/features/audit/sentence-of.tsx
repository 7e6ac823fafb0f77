import { accounts } from '@edgeloom/contract/accounts/accounts.endpoints.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { products } from '@edgeloom/contract/products/products.endpoints.ts';
import { rollouts } from '@edgeloom/contract/rollouts/rollouts.endpoints.ts';
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { sites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import type { Endpoint } from '@edgeloom/contract/endpoint.ts';
import { Link } from 'react-router-dom';
import { family, to } from '../../lib/family.ts';
import { useT } from '../../lib/i18n.ts';
import { domainAddress, siteAddress } from '../../lib/site-address.ts';
import { useCan } from '../../lib/use-can.ts';
import { sentenceOf, type LoggedAction, type Piece } from './sentence.ts';
import classes from './audit.module.css';

/** The sentence of an action. */
export function SentenceOf({ row }: { row: LoggedAction }) {
  useT();
  return (
    <span className={classes['sentence']}>
      <Pieces of={sentenceOf(row)} row={row} />
    </span>
  );
}

/** An object is a link if it still exists and the account may see it. */
export function Pieces({ of, row }: { of: readonly Piece[]; row: LoggedAction }) {
  const can = useCan();
  return (
    <>
      {of.map(({ text, named }, i) => {
        const address = named ? addressOf(named, row, can) : null;
        if (address)
          return (
            <Link key={i} to={address} className={classes['named'] ?? ''}>
              {text}
            </Link>
          );
        return named ? (
          <span key={i} className={classes['named']}>
            {text}
          </span>
        ) : (
          text
        );
      })}
    </>
  );
}

type Can = (endpoint: Pick<Endpoint, 'can'>) => boolean;

/** The page of an object in this console. Null if it has none, no longer exists, or may not be read. */
function addressOf({ kind, item }: NonNullable<Piece['named']>, { within }: LoggedAction, can: Can): string | null {
  if (!item.exists || family === 'admin') return null;
  const find = (list: string) => to(`${list}?${new URLSearchParams({ q: item.name })}`);
  if (kind === 'sites') return can(sites.get) ? siteAddress(item) : null;
  if (kind === 'domains') {
    const isInSite = within?.kind === 'sites' && within.exists;
    return isInSite && can(domains.list) ? domainAddress(within, item.name) : null;
  }
  if (kind === 'accounts')
    return can(accounts.list) ? find(`userManagement/${family === 'user' ? 'usersList' : 'users'}`) : null;
  if (family !== 'client') return null;
  if (kind === 'zones') return can(zones.list) ? to(`nodeManage/zonesList/${item.id}`) : null;
  if (kind === 'nodes') return can(nodes.list) ? to(`nodeManage/nodesList/${item.id}`) : null;
  if (kind === 'rollouts') return can(rollouts.list) ? to(`nodeManage/rollouts/${item.id}`) : null;
  return kind === 'products' && can(products.list) ? find('nodeManage/productsList') : null;
}
