// A node and its visitors in network namespaces of their own, with the kernel's nftables.
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { firewallRules } from './firewall.ts';

const run = promisify(execFile);

/**
 * The script is the node, at 10.9.0.1, and serves on 80 and 22. `reaches(from, port)` answers 'served', or 'dropped' as soon
 * as a rule has counted the visitor's packet.
 */
async function asNode(script: string): Promise<unknown> {
  const code = `
    import { execFileSync, spawn } from 'node:child_process';
    import { createServer } from 'node:net';
    import { once } from 'node:events';
    import { applyFirewall, firewallStands } from ${JSON.stringify(path.join(import.meta.dirname, 'firewall.ts'))};
    const tell = (...words) => execFileSync(words[0], words.slice(1), { encoding: 'utf8' });
    const visitors = spawn('unshare', ['-n', 'sh', '-c', 'echo there; cat'], { stdio: ['pipe', 'pipe', 'inherit'] });
    await once(visitors.stdout, 'data');
    const there = (...words) => ['nsenter', '-t', String(visitors.pid), '-n', ...words];
    tell('ip', 'link', 'set', 'lo', 'up');
    tell('ip', 'link', 'add', 'node', 'type', 'veth', 'peer', 'name', 'visitors', 'netns', String(visitors.pid));
    tell('ip', 'address', 'add', '10.9.0.1/16', 'dev', 'node');
    tell('ip', 'link', 'set', 'node', 'up');
    for (const at of ['10.9.0.2', '10.9.0.3', '10.9.1.4']) tell(...there('ip', 'address', 'add', at + '/16', 'dev', 'visitors'));
    tell(...there('ip', 'link', 'set', 'visitors', 'up'));
    for (const port of [80, 22]) createServer((socket) => socket.on('error', () => undefined).end()).listen(port, '10.9.0.1');
    const dropped = () => [...tell('nft', 'list', 'ruleset').matchAll(/packets (\\d+)/g)].reduce((sum, [, n]) => sum + Number(n), 0);
    const come = (from, port, times = 1) => spawn(...(([name, ...args]) => [name, args])(there(process.execPath, '-e',
      'for (let i = 0; i < ' + times + '; i++) require("net").connect({ host: "10.9.0.1", port: ' + port + ', localAddress: "' + from + '" })' +
      '.on("error", () => undefined).on("connect", () => console.log("served"))')), { stdio: ['ignore', 'pipe', 'inherit'] });
    const reaches = async (from, port, times = 1) => {
      const before = dropped();
      const visitor = come(from, port, times);
      let served = false;
      visitor.stdout.once('data', () => (served = true));
      while ((times > 1 || !served) && dropped() === before) await new Promise((resolve) => setTimeout(resolve, 20));
      visitor.kill('SIGKILL');
      return served && times === 1 ? 'served' : 'dropped';
    };
    const answer = await (async () => { ${script} })();
    console.log(JSON.stringify(answer));
    process.exit();`;
  const { stdout } = await run('unshare', ['-n', process.execPath, '--input-type=module-typescript', '-e', code]);
  return JSON.parse(stdout);
}

test('who is on the list reaches no port of the zone, who is on the other one does, and SSH is open to both', async () => {
  const told = await asNode(`
    const firewall = { whitelist: ['10.9.0.3'], blacklist: ['10.9.0.0/24', '10.9.0.2'], synProtection: false };
    const before = await reaches('10.9.0.2', 80);
    await applyFirewall(firewall, [80, 443]);
    await applyFirewall(firewall, [80, 443]);
    const during = {
      black: await reaches('10.9.0.2', 80),
      white: await reaches('10.9.0.3', 80),
      other: await reaches('10.9.1.4', 80),
      ssh: await reaches('10.9.0.2', 22),
      stands: await firewallStands(firewall),
    };
    tell('nft', 'flush', 'ruleset');
    const flushed = await firewallStands(firewall);
    await applyFirewall(firewall, [80, 443]);
    const again = await reaches('10.9.0.2', 80);
    await applyFirewall(null, [80, 443]);
    const after = await reaches('10.9.0.2', 80);
    return { before, during, flushed, again, after, left: tell('nft', 'list', 'ruleset') };`);
  expect(told).toEqual({
    before: 'served',
    during: { black: 'dropped', white: 'served', other: 'served', ssh: 'served', stands: true },
    flushed: false,
    again: 'dropped',
    after: 'served',
    left: '',
  });
});

test('an address that opens connections without end is slowed down, one that is trusted is not', async () => {
  const told = await asNode(`
    await applyFirewall({ whitelist: ['10.9.0.3'], blacklist: [], synProtection: true }, [80]);
    const hasty = await reaches('10.9.0.2', 80, 3000);
    const other = await reaches('10.9.1.4', 80);
    const before = dropped();
    const trusted = come('10.9.0.3', 80, 3000);
    let served = 0;
    trusted.stdout.on('data', (chunk) => (served += chunk.toString().split('served').length - 1));
    while (served < 3000) await new Promise((resolve) => setTimeout(resolve, 20));
    trusted.kill('SIGKILL');
    return { hasty, other, trusted: dropped() - before };`);
  expect(told).toEqual({ hasty: 'dropped', other: 'served', trusted: 0 });
});

test('lists of both kinds of addresses are sets of their own, and nothing that is set takes the table away', () => {
  const rules = firewallRules(
    { level: 0, whitelist: [], blacklist: ['192.0.2.0/24', '2001:db8::1'], synProtection: false },
    [80],
  );
  expect(rules).toContain('set black_ip { type ipv4_addr; flags interval; auto-merge; elements = { 192.0.2.0/24 }; }');
  expect(rules).toContain('set black_ip6 { type ipv6_addr; flags interval; auto-merge; elements = { 2001:db8::1 }; }');
  expect(rules).not.toContain('hasty');
  expect(firewallRules(null, [80])).not.toContain('chain');
});
