import { nodeJobs } from '@edgeloom/contract/node-jobs/node-jobs.endpoints.ts';
import { NodeJobsStarted } from '@edgeloom/contract/node-jobs/node-jobs.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { useState } from 'react';
import { useNavigate } from 'react-router-dom';
import { showInNextList } from '../../components/resource-table/new-rows.ts';
import { to } from '../../lib/family.ts';
import { useAction } from '../../lib/use-endpoint.ts';
import type { InstallForm } from './use-install-form.ts';

interface JoinCommand {
  id: string;
  command: string;
  expiresAt: string;
}
type Input = NonNullable<InstallForm['input']>;

/** The list of nodes shows the new row when it opens next. */
const showNode = (id: string, name: string) => showInNextList({ feature: nodes.list.feature, ids: [id], name });

/** Stores the node, then starts its installation job or creates its join command. */
export function useStartInstall(existingID: string | null) {
  const navigate = useNavigate();
  const create = useAction(nodes.create, { refreshes: ['zones'], quiet: true });
  const update = useAction(nodes.update, { quiet: true });
  const rejoin = useAction(nodes.rejoin, { quiet: true });
  const initialize = useAction(nodeJobs.initialize, { refreshes: ['nodes'], quiet: true });
  /** A node created here whose installation has not started. */
  const [createdID, setCreatedID] = useState<string | null>(null);
  const [join, setJoin] = useState<JoinCommand | null>(null);
  const id = existingID ?? createdID;

  const storeNode = async ({ node, zoneID, ssh }: Input): Promise<string | null> => {
    if (id !== null) {
      await update.run({ body: { ...node, id, ssh } });
      return id;
    }
    const created = await create.run({ body: { ...node, zoneID, ssh } });
    setCreatedID(created?.id ?? null);
    if (created) showNode(created.id, node.name);
    return created?.id ?? null;
  };
  const startJob = async (input: Input, keepSSH: boolean) => {
    const nodeID = await storeNode(input);
    if (nodeID === null) return;
    const started = await initialize.run({ body: { ids: [nodeID], keepSSH } });
    if (NodeJobsStarted.safeParse(started).success)
      await navigate(to(`nodeManage/nodesList/${nodeID}/install`), { replace: true });
  };
  const createJoinCommand = async ({ node, zoneID }: Input) => {
    if (id === null) {
      const created = await create.run({ body: { ...node, zoneID } });
      if (!created) return;
      setJoin(created);
      showNode(created.id, node.name);
      return;
    }
    await update.run({ body: { ...node, id } });
    const token = await rejoin.run({ params: { nodeID: id } });
    if (token) setJoin({ ...token, id });
  };
  return { id, join, startJob, createJoinCommand };
}
