import { nodeJobs } from '@edgeloom/contract/node-jobs/node-jobs.endpoints.ts';
import { useState } from 'react';
import { Link } from 'react-router-dom';
import { Pages } from '../../components/pages/pages.tsx';
import { Section } from '../../components/page/section.tsx';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { Time } from '../../components/values/values.tsx';
import { to } from '../../lib/family.ts';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import classes from './node-jobs.module.css';
import { toneOfJob } from './tones.ts';

const PAGE_SIZE = 5;

/** Jobs of the machine over SSH. The newest installation opens on the installation page. */
export function JobsOfNode({ node }: { node: { id: string; name: string } }) {
  const t = useT();
  const [page, setPage] = useState(1);
  const query = { page, pageSize: PAGE_SIZE, sortBy: 'createdAt', orderBy: 'desc' } as const;
  const { data } = useEndpoint(nodeJobs.list, { params: { nodeID: node.id }, query }, { pollMs: 5000 });
  if (!data || data.total === 0) return null;
  return (
    <Section title="nodeJobs.recent">
      <ul className={classes['recent']}>
        {data.data.map(({ id, kind, state, createdAt, createdBy }, i) => (
          <li key={id}>
            <StatusMark tone={toneOfJob[state]} label={t(`nodeJobs.state.${state}`)} />
            <Link
              to={to(
                `nodeManage/nodesList/${node.id}/${page === 1 && i === 0 && kind === 'install' ? 'install' : `job/${id}`}`,
              )}
            >
              {t(`nodeJobs.title.${kind}`, { name: node.name })}
            </Link>
            <span className={classes['why']}>
              {t(`nodeJobs.state.${state}`)} · {createdBy} · <Time at={createdAt} />
            </span>
          </li>
        ))}
      </ul>
      <Pages page={page} pageSize={PAGE_SIZE} total={data.total} onChange={setPage} />
    </Section>
  );
}
