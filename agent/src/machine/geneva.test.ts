// The real rules of the kernel, in a network namespace.
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { nftRules } from './geneva.ts';

const run = promisify(execFile);

/** Runs the script with a loopback that is up. `mss(port)` returns the segment size that a visitor receives. */
async function inNamespace(script: string, programs = ''): Promise<unknown> {
  const code = `
    import { execFileSync } from 'node:child_process';
    import { createServer, connect } from 'node:net';
    import { once } from 'node:events';
    import { applyGeneva, isApplied } from ${JSON.stringify(path.join(import.meta.dirname, 'geneva.ts'))};
    execFileSync('ip', ['link', 'set', 'lo', 'up']);
    const mss = async (port) => {
      const server = createServer((socket) => socket.on('error', () => undefined)).listen(port, '127.0.0.1');
      await once(server, 'listening');
      const client = connect(port, '127.0.0.1');
      await once(client, 'connect');
      const connections = execFileSync('ss', ['-tinH', 'dport', '=', ':' + port], { encoding: 'utf8' });
      client.destroy();
      server.close();
      return Number(/ mss:(\\d+)/.exec(connections)[1]);
    };
    ${script}`;
  const shell = `${programs}\nexec "$0" --input-type=module-typescript -e "$1"`;
  const { stdout } = await run('unshare', ['-n', '-m', 'sh', '-euc', shell, process.execPath, code]);
  return JSON.parse(stdout);
}

/** In place of the system's: a machine without nftables, such as CentOS 7. */
const onlyIptables = (variant: string) => `
tools=/usr/sbin/xtables-${variant}-multi
at=$(mktemp -d)
cp -a "$tools" "$at/"
ln -s "$(basename "$tools")" "$at/iptables"
ln -s "$(basename "$tools")" "$at/ip6tables"
mount --bind "$at" /usr/sbin
export PATH=/usr/sbin:/usr/bin:/bin`;

test('answers to first packets carry the size that was set, on the ports of the zone alone, until it is taken back', async () => {
  const result = await inNamespace(`
    const geneva = { packetSize: 536, windowSize: null };
    const before = await mss(8080);
    await applyGeneva(geneva, [8080, 8443]);
    const during = { set: await mss(8080), other: await mss(9090), isApplied: await isApplied(geneva) };
    await applyGeneva(geneva, [8080, 8443]);
    const rules = execFileSync('nft', ['list', 'ruleset'], { encoding: 'utf8' });
    execFileSync('nft', ['flush', 'ruleset']);
    const flushed = await isApplied(geneva);
    await applyGeneva(geneva, [8080]);
    const again = await mss(8080);
    await applyGeneva({ packetSize: 536, windowSize: 100 }, [8080]);
    const windowed = await mss(8080);
    await applyGeneva(null, []);
    const after = { size: await mss(8080), isApplied: await isApplied(null) };
    console.log(JSON.stringify({ before, during, flushed, again, windowed, after, tables: rules.split('table ').length - 1 }));`);
  const usual = expect.toSatisfy((size: number) => size > 1000);
  // Time stamps take twelve of the 536 bytes.
  expect(result).toEqual({
    before: usual,
    during: { set: 524, other: usual, isApplied: true },
    flushed: false,
    again: 524,
    // No more than fits into the window.
    windowed: 100,
    after: { size: usual, isApplied: true },
    tables: 1,
  });
});

test('what is null is left to the system', () => {
  const rules = nftRules({ packetSize: null, windowSize: 4 }, [443]);
  expect(rules).toContain('tcp window set 4');
  expect(rules).not.toContain('maxseg');
  expect(nftRules(null, [443])).not.toContain('chain');
});

test.each(['legacy', 'nft'])(
  'where there is no nftables, iptables (%s) sets the size for however many ports, once, and takes it back',
  async (variant) => {
    const result = await inNamespace(
      `
    const geneva = { packetSize: 536, windowSize: null };
    const before = await mss(8080);
    const ports = Array.from({ length: 20 }, (_, i) => 8070 + i);
    await applyGeneva(geneva, ports);
    await applyGeneva(geneva, ports);
    const rules = execFileSync('iptables', ['-t', 'mangle', '-S'], { encoding: 'utf8' });
    const during = { set: await mss(8089), other: await mss(9090), isApplied: await isApplied(geneva) };
    execFileSync('iptables', ['-t', 'mangle', '-F', 'OUTPUT']);
    const flushed = await isApplied(geneva);
    await applyGeneva(geneva, ports);
    const again = await mss(8080);
    const refused = await applyGeneva({ packetSize: null, windowSize: 17 }, ports).then(String, String);
    const stays = await mss(8080);
    await applyGeneva(null, ports);
    const left = execFileSync('iptables', ['-t', 'mangle', '-S'], { encoding: 'utf8' }).includes('EDGELOOM');
    const after = { size: await mss(8080), isApplied: await isApplied(null), left };
    const times = (text) => rules.split(text).length - 1;
    console.log(JSON.stringify({ before, rules: [times('-A OUTPUT'), times('TCPMSS')], during, flushed, again, refused, stays, after }));`,
      onlyIptables(variant),
    );
    const usual = expect.toSatisfy((size: number) => size > 1000);
    expect(result).toEqual({
      before: usual,
      // One match of iptables takes fifteen ports.
      rules: [1, 2],
      during: { set: 524, other: usual, isApplied: true },
      flushed: false,
      again: 524,
      refused: 'Error: this machine has no nftables, and iptables does not set a window size',
      stays: 524,
      after: { size: usual, isApplied: true, left: false },
    });
  },
);
