import { upgrades } from '@edgeloom/contract/rollouts/rollouts.endpoints.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { Button } from '@mantine/core';
import { IconCloudUp } from '@tabler/icons-react';
import { useState } from 'react';
import { Link } from 'react-router-dom';
import { Section } from '../../components/page/section.tsx';
import { Await } from '../../components/states/await.tsx';
import { EmptyState } from '../../components/states/states.tsx';
import { to } from '../../lib/family.ts';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { whatOf } from '../rollouts/format.ts';
import { RolloutLog } from '../rollouts/rollout-log.tsx';

const AT_FIRST = 50;
const MOST = 500;

/** Upgrade orders and results of the node, newest first. */
export function UpgradeLog({ nodeID }: { nodeID: string }) {
  const t = useT();
  const [pageSize, setPageSize] = useState(AT_FIRST);
  const query = { pageSize, sortBy: 'at', orderBy: 'desc' } as const;
  const found = useEndpoint(upgrades.logs, { params: { nodeID }, query }, { pollMs: 5000 });
  return (
    <Await result={found}>
      {({ data, total }) =>
        total === 0 ? (
          <EmptyState icon={IconCloudUp} title={t('upgrades.log.empty.title')} text={t('upgrades.log.empty.text')} />
        ) : (
          <Section title="upgrades.log.title" why="upgrades.log.why" wide>
            <RolloutLog lines={data} Of={What} />
            {data.length < total && pageSize < MOST && (
              <Button variant="subtle" onClick={() => setPageSize(MOST)}>
                {t('upgrades.log.more')}
              </Button>
            )}
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
