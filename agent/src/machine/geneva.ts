// What the machine answers to a visitor's first packet: a small segment size and a small window make the visitor send its
// request in pieces, which some censors do not put together. By nftables; where there is none (CentOS 7) iptables sets the
// segment size, and has nothing for the window.
import type { NodeDoc } from '@edgeloom/contract/edge/documents.ts';
import { NotInstalled, run } from './programs.ts';

export type Geneva = NonNullable<NodeDoc['geneva']>;

const TABLE = 'edgeloom_geneva';
const CHAIN = 'EDGELOOM_GENEVA';
/** Of one match of iptables. */
const PORTS_AT_ONCE = 15;

/** One transaction: between the old rules and the new there is no moment without. */
export function nftRules(geneva: Geneva | null, ports: readonly number[]): string {
  const fresh = [`table inet ${TABLE}`, `delete table inet ${TABLE}`];
  if (geneva === null || ports.length === 0) return `${fresh.join('\n')}\n`;
  const answers = `tcp sport { ${ports.join(', ')} } tcp flags & (syn | ack) == syn | ack`;
  return [
    ...fresh,
    `table inet ${TABLE} {`,
    '  chain answers {',
    '    type filter hook output priority mangle; policy accept;',
    ...(geneva.windowSize === null ? [] : [`    ${answers} tcp window set ${geneva.windowSize}`]),
    ...(geneva.packetSize === null ? [] : [`    ${answers} tcp option maxseg size set ${geneva.packetSize}`]),
    '  }',
    '}',
    '',
  ].join('\n');
}

/** Whether the rules of this setting stand. A firewall that is started anew takes them away without a word. */
export async function stands(geneva: Geneva | null): Promise<boolean> {
  try {
    // Asked for all tables, nft reads every element of every set of the machine first.
    const said = await run('nft', ['-t', 'list', 'chains']).catch(() => run('nft', ['list', 'tables']));
    return said.includes(`inet ${TABLE}`) === (geneva !== null);
  } catch (error) {
    if (!(error instanceof NotInstalled)) throw error;
    const rules = await run('iptables', ['-t', 'mangle', '-S']).catch(() => '');
    return rules.includes(`-j ${CHAIN}`) === (geneva !== null);
  }
}

/** Throws why it cannot be; then nothing has changed. */
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
    for (let i = 0; i < ports.length; i += PORTS_AT_ONCE) {
      const some = ports.slice(i, i + PORTS_AT_ONCE).join(',');
      const answers = ['-p', 'tcp', '-m', 'multiport', '--sports', some, '--tcp-flags', 'SYN,ACK', 'SYN,ACK'];
      await mangle('-A', CHAIN, ...answers, '-j', 'TCPMSS', '--set-mss', String(geneva.packetSize));
    }
    await mangle('-A', 'OUTPUT', '-p', 'tcp', '-j', CHAIN);
  }
}
