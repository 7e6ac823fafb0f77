// Gives the kernel the networks of the risk pack at or above the zone's level. Only when pack or level changed.
import { readFileSync } from 'node:fs';
import type { NodeDoc, ZoneDoc } from '@edgeloom/contract/edge/documents.ts';
import { networksAt, readRiskPack, RISK_FILE } from '@edgeloom/contract/edge/risk-pack.ts';
import { packStore } from '../upgrade/release-store.ts';
import type { Risk } from './firewall/firewall.ts';

interface Deps {
  /** The node's directory. */
  dir: string;
  read: () => Promise<{ zone: ZoneDoc; node: NodeDoc | null } | null>;
  firewall: { canDrop: boolean; setRisk: (risk: Risk | null) => Promise<void> };
}

/** Throws when the kernel cannot drop them. Where the kernel drops nothing, nginx rejects. */
export const createRiskFollower =
  ({ dir, read, firewall }: Deps) =>
  async (): Promise<void> => {
    if (!firewall.canDrop) return;
    const store = packStore(dir, 'risk');
    const [found, pack] = await Promise.all([read(), store.current()]);
    const level = found === null || found.node?.relayPort !== undefined ? 0 : (found.zone.firewall?.level ?? 0);
    const file = pack === null ? '' : store.path(pack, RISK_FILE);
    const networks = () => networksAt(readRiskPack(readFileSync(file)), level);
    await firewall.setRisk(pack === null || level === 0 ? null : { name: `${pack} ${level}`, networks });
  };
