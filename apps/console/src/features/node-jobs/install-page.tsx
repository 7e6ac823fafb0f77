import { nodeJobs } from '@edgeloom/contract/node-jobs/node-jobs.endpoints.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { useSearchParams } from 'react-router-dom';
import { Page } from '../../components/page/page.tsx';
import { Await } from '../../components/states/await.tsx';
import { ForbiddenState } from '../../components/states/states.tsx';
import { useCan } from '../../lib/use-can.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { useRouteParams } from '../../lib/use-route-params.ts';
import type { EdgeNode } from '../nodes/node-states.ts';
import { Install } from './install.tsx';

/** Node installation on one URL: `…/new/install` until the node is created. */
export function InstallPage() {
  const { nodeID } = useRouteParams('nodeID');
  const zoneID = useSearchParams()[0].get('zone');
  const can = useCan();
  const needed = nodeID === 'new' ? nodes.create : nodeJobs.initialize;
  if (!can(needed)) {
    return (
      <Page title="nodes.create">
        <ForbiddenState permission={needed.can} />
      </Page>
    );
  }
  return nodeID === 'new' ? <Install node={null} job={null} zoneID={zoneID} /> : <OfNode key={nodeID} id={nodeID} />;
}

function OfNode({ id }: { id: string }) {
  const found = useEndpoint(nodes.get, { params: { nodeID: id } });
  return (
    <Await result={found} page="nodes.create">
      {(node) => <Latest node={node} />}
    </Await>
  );
}

/** Resumes the newest installation, if it is the last job of the node. */
function Latest({ node }: { node: EdgeNode }) {
  const query = { pageSize: 1, sortBy: 'createdAt', orderBy: 'desc' } as const;
  const found = useEndpoint(nodeJobs.list, { params: { nodeID: node.id }, query });
  return (
    <Await result={found} page="nodes.create">
      {({ data: [job] }) =>
        job?.kind === 'install' ? (
          <OfJob node={node} jobID={job.id} />
        ) : (
          <Install node={node} job={null} zoneID={null} />
        )
      }
    </Await>
  );
}

function OfJob({ node, jobID }: { node: EdgeNode; jobID: string }) {
  const found = useEndpoint(nodeJobs.get, { params: { nodeID: node.id, jobID } });
  return (
    <Await result={found} page="nodes.create">
      {(job) => <Install key={job.id} node={node} job={job} zoneID={null} />}
    </Await>
  );
}
