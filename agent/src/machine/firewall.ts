// The firewall of a zone, in a table of our own in nftables: on the ports of the zone and no others, so that whoever is on
// the list is a visitor no more, and everything else of the machine (SSH, our own connections) goes on as it did.
import type { ZoneFirewall } from '@edgeloom/contract/zone-firewall/zone-firewall.ts';
import { NotInstalled, run } from './programs.ts';

const TABLE = 'edgeloom_firewall';
/** New connections of one address. */
const PER_SECOND = 200;
const AT_ONCE = 400;

/** One transaction: between the old rules and the new there is no moment without. */
export function firewallRules(firewall: ZoneFirewall | null, ports: readonly number[]): string {
  const fresh = [`table inet ${TABLE}`, `delete table inet ${TABLE}`];
  if (firewall === null || ports.length === 0) return `${fresh.join('\n')}\n`;
  const { whitelist, blacklist, synProtection } = firewall;
  const hasty = (family: string) =>
    `    tcp flags & (fin | syn | rst | ack) == syn add @hasty_${family} { ${family} saddr limit rate over ${PER_SECOND}/second burst ${AT_ONCE} packets } counter drop`;
  return [
    ...fresh,
    `table inet ${TABLE} {`,
    ...set('white', whitelist),
    ...set('black', blacklist),
    ...(synProtection ? [counting('ip', 'ipv4_addr'), counting('ip6', 'ipv6_addr')] : []),
    '  chain visitors {',
    '    ip saddr @white_ip accept',
    '    ip6 saddr @white_ip6 accept',
    '    ip saddr @black_ip counter drop',
    '    ip6 saddr @black_ip6 counter drop',
    ...(synProtection ? [hasty('ip'), hasty('ip6')] : []),
    '  }',
    '  chain arriving {',
    '    type filter hook input priority filter - 10; policy accept;',
    '    iif lo accept',
    `    tcp dport { ${ports.join(', ')} } jump visitors`,
    `    udp dport { ${ports.join(', ')} } jump visitors`,
    '  }',
    '}',
    '',
  ].join('\n');
}

/** Lists may overlap. */
function set(name: string, networks: readonly string[]): string[] {
  return (['ip', 'ip6'] as const).map((family) => {
    const of = networks.filter((network) => network.includes(':') === (family === 'ip6'));
    const elements = of.length === 0 ? '' : ` elements = { ${of.join(', ')} };`;
    const type = family === 'ip' ? 'ipv4_addr' : 'ipv6_addr';
    return `  set ${name}_${family} { type ${type}; flags interval; auto-merge;${elements} }`;
  });
}

const counting = (family: string, type: string) =>
  `  set hasty_${family} { type ${type}; size 65536; flags dynamic,timeout; timeout 10s; }`;

/** Whether its rules stand. Another firewall that is started anew takes them away without a word. */
export async function firewallStands(firewall: ZoneFirewall | null): Promise<boolean> {
  return (await run('nft', ['list', 'tables'])).includes(`inet ${TABLE}`) === (firewall !== null);
}

/** Throws why it cannot be; then nothing has changed. */
export async function applyFirewall(firewall: ZoneFirewall | null, ports: readonly number[]): Promise<void> {
  try {
    await run('nft', ['-f', '-'], firewallRules(firewall, ports));
  } catch (error) {
    if (!(error instanceof NotInstalled)) throw error;
    if (firewall !== null)
      throw new Error("the zone's firewall needs nftables, which this machine has not", { cause: error });
  }
}
