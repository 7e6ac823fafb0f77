import { siteUsers } from '@edgeloom/contract/accounts/accounts.endpoints.ts';
import { useState } from 'react';
import { Link } from 'react-router-dom';
import { Fact, Facts } from '../../components/page/facts.tsx';
import { Section } from '../../components/page/section.tsx';
import { Pages } from '../../components/pages/pages.tsx';
import { Await } from '../../components/states/await.tsx';
import { Status } from '../../components/status/status.tsx';
import { family, to } from '../../lib/family.ts';
import { useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import classes from './sites.module.css';

const PAGE_SIZE = 25;

/** Sub-accounts that see the site. */
export function AssignedUsers({ siteId }: { siteId: string }) {
  const can = useCan();
  return can(siteUsers.list) ? <Assigned siteId={siteId} /> : null;
}

function Assigned({ siteId }: { siteId: string }) {
  const t = useT();
  const [page, setPage] = useState(1);
  const found = useEndpoint(siteUsers.list, { params: { siteId }, query: { page, pageSize: PAGE_SIZE } });
  const list = family === 'user' ? 'userManagement/usersList' : 'userManagement/users';
  return (
    <Section title="sites.overview.users" why="sites.overview.usersWhy">
      <Await result={found}>
        {({ data, total }) =>
          total === 0 ? (
            <Link className={classes['link'] ?? ''} to={to(family === 'user' ? list : `${list}?tab=customers`)}>
              {t('sites.overview.assign')}
            </Link>
          ) : (
            <>
              <Facts>
                {data.map(({ id, name, email, status }) => (
                  <Fact key={id} term={email}>
                    <Link className={classes['link'] ?? ''} to={to(`${list}/${id}?tab=sites`)}>
                      {name}
                    </Link>{' '}
                    {status === 'normal' ? null : <Status kind="account" value={status} />}
                  </Fact>
                ))}
              </Facts>
              <Pages page={page} pageSize={PAGE_SIZE} total={total} onChange={setPage} />
            </>
          )
        }
      </Await>
    </Section>
  );
}
