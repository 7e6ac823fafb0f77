import { upgrades } from '@edgeloom/contract/rollouts/rollouts.endpoints.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { IconCloudUp } from '@tabler/icons-react';
import { useState } from 'react';
import { Link } from 'react-router-dom';
import { Section } from '../../components/page/section.tsx';
import { Pages } from '../../components/pages/pages.tsx';
import { Await } from '../../components/states/await.tsx';
import { EmptyState } from '../../components/states/states.tsx';
import { to } from '../../lib/family.ts';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { whatOf } from '../rollouts/format.ts';
import { RolloutLog } from '../rollouts/rollout-log.tsx';

const PAGE_SIZE = 50;

/** Upgrade orders and results of the node, newest first. */
export function UpgradeLog({ nodeID }: { nodeID: string }) {
  const t = useT();
  const [page, setPage] = useState(1);
  const query = { page, pageSize: PAGE_SIZE, sortBy: 'at', orderBy: 'desc' } as const;
  const found = useEndpoint(upgrades.logs, { params: { nodeID }, query }, { pollMs: 5000 });
  return (
    <Await result={found}>
      {({ data, total }) =>
        total === 0 ? (
          <EmptyState icon={IconCloudUp} title={t('upgrades.log.empty.title')} text={t('upgrades.log.empty.text')} />
        ) : (
          <Section title="upgrades.log.title" why="upgrades.log.why" wide>
            <RolloutLog lines={data} Of={What} />
            <Pages page={page} pageSize={PAGE_SIZE} total={total} onChange={setPage} />
          </Section>
        )
      }
    </Await>
  );
}

type Line = Received<typeof upgrades.logs>['data'][number];

function What({ line: { rolloutID, product, version } }: { line: Line }) {
  const t = useT();
  return (
    <Link to={to(`nodeManage/rollouts/${rolloutID}`)}>
      {product === null ? t('rollouts.kinds.zone') : whatOf({ product, version, title: '' }, t)}
    </Link>
  );
}
