// Sets a small segment size and window in SYN-ACK packets, so that requests arrive in pieces that some censors do not
// reassemble. Uses nftables. On CentOS 7 iptables sets the segment size and cannot set the window.
import type { NodeDoc } from '@edgeloom/contract/edge/documents.ts';
import { NotInstalled, run } from './programs.ts';

export type Geneva = NonNullable<NodeDoc['geneva']>;

const TABLE = 'edgeloom_geneva';
const CHAIN = 'EDGELOOM_GENEVA';
/** The limit of one multiport match. */
const MAX_PORTS_PER_RULE = 15;

/** One transaction, so rules are never missing. */
export function nftRules(geneva: Geneva | null, ports: readonly number[]): string {
  const fresh = [`table inet ${TABLE}`, `delete table inet ${TABLE}`];
  if (geneva === null || ports.length === 0) return `${fresh.join('\n')}\n`;
  const synAcks = `tcp sport { ${ports.join(', ')} } tcp flags & (syn | ack) == syn | ack`;
  return [
    ...fresh,
    `table inet ${TABLE} {`,
    '  chain synAcks {',
    '    type filter hook output priority mangle; policy accept;',
    ...(geneva.windowSize === null ? [] : [`    ${synAcks} tcp window set ${geneva.windowSize}`]),
    ...(geneva.packetSize === null ? [] : [`    ${synAcks} tcp option maxseg size set ${geneva.packetSize}`]),
    '  }',
    '}',
    '',
  ].join('\n');
}

/** Whether the rules of this setting are in place. Another firewall removes them silently when it starts. */
export async function isApplied(geneva: Geneva | null): Promise<boolean> {
  try {
    // Listing all tables would read every element of every set.
    const output = await run('nft', ['-t', 'list', 'chains']).catch(() => run('nft', ['list', 'tables']));
    return output.includes(`inet ${TABLE}`) === (geneva !== null);
  } catch (error) {
    if (!(error instanceof NotInstalled)) throw error;
    const rules = await run('iptables', ['-t', 'mangle', '-S']).catch(() => '');
    return rules.includes(`-j ${CHAIN}`) === (geneva !== null);
  }
}

/** Throws the reason of a failure. Then nothing has changed. */
export async function applyGeneva(geneva: Geneva | null, ports: readonly number[]): Promise<void> {
  try {
    await run('nft', ['-f', '-'], nftRules(geneva, ports));
  } catch (error) {
    if (!(error instanceof NotInstalled)) throw error;
    await applyByIptables(geneva, ports);
  }
}

async function applyByIptables(geneva: Geneva | null, ports: readonly number[]): Promise<void> {
  if (geneva !== null && geneva.packetSize === null)
    throw new Error('this machine has no nftables, and iptables does not set a window size');
  for (const program of ['iptables', 'ip6tables']) {
    const mangle = (...args: string[]) => run(program, ['-w', '-t', 'mangle', ...args]);
    await mangle('-D', 'OUTPUT', '-p', 'tcp', '-j', CHAIN).catch(() => undefined);
    await mangle('-F', CHAIN).catch(() => undefined);
    await mangle('-X', CHAIN).catch(() => undefined);
    if (geneva === null || ports.length === 0) continue;
    await mangle('-N', CHAIN);
    for (let i = 0; i < ports.length; i += MAX_PORTS_PER_RULE) {
      const some = ports.slice(i, i + MAX_PORTS_PER_RULE).join(',');
      const synAcks = ['-p', 'tcp', '-m', 'multiport', '--sports', some, '--tcp-flags', 'SYN,ACK', 'SYN,ACK'];
      await mangle('-A', CHAIN, ...synAcks, '-j', 'TCPMSS', '--set-mss', String(geneva.packetSize));
    }
    await mangle('-A', 'OUTPUT', '-p', 'tcp', '-j', CHAIN);
  }
}
