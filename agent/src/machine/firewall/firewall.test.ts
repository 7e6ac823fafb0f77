// A node and its visitors in network namespaces of their own, with the kernel's nftables and ipset.
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { Firewall } from './firewall.ts';

const run = promisify(execFile);
const drivers = ['nftables', 'ipset'] as const;

/**
 * The script runs as the node, at 10.9.0.1 and fd09::1. It serves TCP on 80 and 22, UDP on 5000 and 5001.
 * `reaches(from, port)` returns 'served', or the rule that drops the visitor's packets.
 */
async function asNode(driver: (typeof drivers)[number], script: string): Promise<unknown> {
  const from = (file: string) => JSON.stringify(path.join(import.meta.dirname, file));
  const code = `
    import { execFileSync, spawn } from 'node:child_process';
    import { createSocket } from 'node:dgram';
    import { createServer } from 'node:net';
    import { once } from 'node:events';
    import { Firewall } from ${from('firewall.ts')};
    import { nftables } from ${from('nftables.ts')};
    import { ipset } from ${from('ipset.ts')};
    const tell = (...words) => execFileSync(words[0], words.slice(1), { encoding: 'utf8' });
    const visitors = spawn('unshare', ['-n', 'sh', '-c', 'echo there; cat'], { stdio: ['pipe', 'pipe', 'inherit'] });
    await once(visitors.stdout, 'data');
    const there = (...words) => ['nsenter', '-t', String(visitors.pid), '-n', ...words];
    tell('ip', 'link', 'set', 'lo', 'up');
    tell('ip', 'link', 'add', 'node', 'type', 'veth', 'peer', 'name', 'visitors', 'netns', String(visitors.pid));
    tell('ip', 'address', 'add', '10.9.0.1/16', 'dev', 'node');
    tell('ip', 'address', 'add', 'fd09::1/32', 'dev', 'node', 'nodad');
    tell('ip', 'link', 'set', 'node', 'up');
    for (const at of ['10.9.0.2', '10.9.0.3', '10.9.0.5', '10.9.1.4', '10.9.2.2'])
      tell(...there('ip', 'address', 'add', at + '/16', 'dev', 'visitors'));
    for (const at of ['fd09:0:1:2::7', 'fd09:0:1:3::7'])
      tell(...there('ip', 'address', 'add', at + '/32', 'dev', 'visitors', 'nodad'));
    tell(...there('ip', 'link', 'set', 'visitors', 'up'));
    for (const port of [80, 22]) createServer((socket) => socket.on('error', () => undefined).pipe(socket)).listen(port, '::');
    for (const port of [5000, 5001]) {
      const socket = createSocket('udp4').on('message', (text, { port, address }) => socket.send(text, port, address));
      socket.bind(port, '0.0.0.0');
    }
    const quiet = () => undefined;
    const drivers = { nftables: nftables(), ipset: ipset() };
    const firewall = await Firewall.open({ info: quiet, warn: quiet, error: quiet }, [drivers.${driver}]);
    const http = [{ protocol: 'tcp', port: 80 }];
    const lists = (over) => ({ whitelist: [], blacklist: [], synProtection: false, sockets: http, ...over });
    const dropped = async () => {
      const { since, ...causes } = (await firewall.dropped()) ?? {};
      return Object.fromEntries(Object.entries(causes).map(([cause, { packets }]) => [cause, packets]));
    };
    const visitor = (code) => spawn(...(([name, ...args]) => [name, args])(there(process.execPath, '-e', code)), {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const at = (from) => from.includes(':') ? 'fd09::1' : '10.9.0.1';
    const say = (from, port) => 'const socket = require("net").connect({ host: "' + at(from) + '", port: ' + port + ', localAddress: "' + from +
      '" }).on("error", () => undefined).on("data", () => console.log("served")); setInterval(() => socket.write("x"), 20);';
    const send = (from, port) => 'const socket = require("dgram").createSocket("udp4").on("message", () => console.log("served"));' +
      'socket.bind({ address: "' + from + '" }); setInterval(() => socket.send("x", ' + port + ', "10.9.0.1"), 20);';
    const outcome = async (child) => {
      const before = await dropped();
      let served = false;
      child.stdout.once('data', () => (served = true));
      for (;;) {
        const now = await dropped();
        const cause = Object.keys(now).find((cause) => now[cause] > (before[cause] ?? 0));
        if (served || cause !== undefined) {
          child.kill('SIGKILL');
          return served ? 'served' : cause;
        }
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    };
    // Packets of one visitor that are still in transit would be counted as the next visitor's.
    const gone = async (child, from) => {
      if (child.signalCode === null) await once(child, 'exit');
      while (tell(...there('ss', '-Htn', 'src', from.includes(':') ? '[' + from + ']' : from)) !== '') await new Promise((resolve) => setTimeout(resolve, 20));
    };
    const come = async (from, code) => {
      const child = visitor(code);
      const found = await outcome(child);
      await gone(child, from);
      return found;
    };
    const reaches = (from, port) => come(from, say(from, port));
    const sends = (from, port) => come(from, send(from, port));
    const left = () => tell('nft', 'list', 'ruleset').split('\\n').filter((line) => /edgeloom/i.test(line)).join() + tell('ipset', 'list', '-n');
    const answer = await (async () => { ${script} })();
    console.log(JSON.stringify(answer));
    process.exit();`;
  const { stdout } = await run('unshare', ['-n', process.execPath, '--input-type=module-typescript', '-e', code]);
  return JSON.parse(stdout);
}

describe.each(drivers)('by %s', (driver) => {
  test('of all rules the first that names a visitor decides, on ports of the zone and no others, and who is blocked is cut off', async () => {
    const result = await asNode(
      driver,
      `
      const sockets = [...http, { protocol: 'udp', port: 5000 }];
      const before = await reaches('10.9.0.2', 80);
      await firewall.follow(lists({ sockets, whitelist: ['10.9.0.3'], blacklist: ['10.9.0.0/24', '10.9.0.2'] }));
      await firewall.setRisk({ name: 'a', networks: () => ['10.9.0.0/16', '10.9.2.2'] });
      await firewall.replaceBlocked(['10.9.0.3', '10.9.0.5'].map((network) => ({ network, seconds: 600 })));
      const list = {
        black: await reaches('10.9.0.2', 80),
        white: await reaches('10.9.0.3', 80),
        blocked: await reaches('10.9.0.5', 80),
        risky: await reaches('10.9.1.4', 80),
        ssh: await reaches('10.9.0.2', 22),
        forward: await sends('10.9.0.2', 5000),
        other: await sends('10.9.0.2', 5001),
      };
      // {ip}/0 means all; the allow list still wins.
      await firewall.follow(lists({ whitelist: ['10.9.0.3'], blacklist: ['10.9.9.9/0', '::/0'] }));
      const all = { four: await reaches('10.9.1.4', 80), six: await reaches('fd09:0:1:2::7', 80), white: await reaches('10.9.0.3', 80) };
      await firewall.follow(lists({ sockets }));
      await firewall.setRisk({ name: 'b', networks: () => ['10.9.2.2'] });
      const risky = await reaches('10.9.2.2', 80);
      const open = visitor(say('10.9.1.4', 80));
      await once(open.stdout, 'data');
      const cut = outcome({ stdout: { once: () => undefined }, kill: () => open.kill('SIGKILL') });
      await firewall.changeBlocked([{ network: '10.9.1.4', seconds: 600 }, { network: 'rubbish', seconds: 1 }], ['10.9.0.5', '10.9.0.2']);
      return { before, list, all, risky, cut: await cut };`,
    );
    expect(result).toEqual({
      before: 'served',
      list: {
        black: 'blacklist',
        white: 'served',
        blocked: 'blocked',
        risky: 'risk',
        ssh: 'served',
        forward: 'blacklist',
        other: 'served',
      },
      cut: 'blocked',
      risky: 'risk',
      all: { four: 'blacklist', six: 'blacklist', white: 'served' },
    });
  });

  test('lists that change leave the other sets and what was counted; what another firewall flushed comes back; at the end nothing is left', async () => {
    const result = await asNode(
      driver,
      `
      await firewall.follow(lists({ blacklist: ['10.9.0.2'] }));
      await firewall.setRisk({ name: 'a', networks: () => ['10.9.1.0/24', 'fd09:0:1:3::/64'] });
      await firewall.replaceBlocked([{ network: '10.9.0.5', seconds: 600 }, { network: 'fd09:0:1:2::/64', seconds: 600 }]);
      const first = { black: await reaches('10.9.0.2', 80), six: await reaches('fd09:0:1:2::7', 80), risk: await reaches('fd09:0:1:3::7', 80) };
      const counted = await dropped();
      await firewall.follow(lists({ blacklist: ['10.9.0.3', 'fd09:0:1:9::/64'], synProtection: true }));
      const changed = { old: await reaches('10.9.0.2', 80), black: await reaches('10.9.0.3', 80), blocked: await reaches('10.9.0.5', 80), risk: await reaches('10.9.1.4', 80) };
      const flush = () => ${
        driver === 'nftables'
          ? `tell('nft', 'flush', 'ruleset')`
          : `['iptables', 'ip6tables'].map((name) => [tell(name, '-t', 'mangle', '-F'), tell(name, '-t', 'mangle', '-X')])`
      };
      flush();
      await firewall.follow(lists({ blacklist: ['10.9.0.3'] }));
      const back = { black: await reaches('10.9.0.3', 80), blocked: await reaches('10.9.0.5', 80), risk: await reaches('10.9.1.4', 80) };
      flush();
      await firewall.changeBlocked([{ network: '10.9.2.2', seconds: 600 }], []);
      await firewall.follow(lists({ blacklist: ['10.9.0.3'] }));
      const more = { new: await reaches('10.9.2.2', 80), old: await reaches('fd09:0:1:2::7', 80) };
      const total = await dropped();
      // The agent restarts, and its zone has no lists any more.
      const next = await Firewall.open({ info: quiet, warn: quiet, error: quiet });
      const stands = left() !== '';
      await next.follow(null);
      return { first, changed, back, more, rises: total.blacklist > counted.blacklist && total.blocked > counted.blocked, stands, left: left(), open: await reaches('10.9.0.5', 80) };`,
    );
    expect(result).toEqual({
      first: { black: 'blacklist', six: 'blocked', risk: 'risk' },
      changed: { old: 'served', black: 'blacklist', blocked: 'blocked', risk: 'risk' },
      back: { black: 'blacklist', blocked: 'blocked', risk: 'risk' },
      more: { new: 'blocked', old: 'blocked' },
      rises: true,
      stands: true,
      left: '',
      open: 'served',
    });
  });

  test('an address that opens connections without end is slowed down, one that is trusted is not', async () => {
    const result = await asNode(
      driver,
      `
      const many = (from) => 'for (let i = 0; i < 3000; i++) require("net").connect({ host: "10.9.0.1", port: 80, localAddress: "' + from +
        '" }).on("error", () => undefined).on("connect", () => console.log("served"))';
      await firewall.follow(lists({ whitelist: ['10.9.0.3'], synProtection: true }));
      const hasty = await outcome({ stdout: { once: () => undefined }, kill: ((child) => () => child.kill('SIGKILL'))(visitor(many('10.9.0.2'))) });
      const other = await reaches('10.9.1.4', 80);
      const before = await dropped();
      const trusted = visitor(many('10.9.0.3'));
      let served = 0;
      trusted.stdout.on('data', (chunk) => (served += chunk.toString().split('served').length - 1));
      while (served < 3000) await new Promise((resolve) => setTimeout(resolve, 20));
      trusted.kill('SIGKILL');
      const after = await dropped();
      return { hasty, other, trusted: after.syn - before.syn };`,
    );
    expect(result).toEqual({ hasty: 'syn', other: 'served', trusted: 0 });
  });
});

test('a kernel that drops no packets is an error only when the zone has lists', async () => {
  const silent = () => undefined;
  const refusing = { ...never, probe: () => Promise.reject(new Error('not permitted')) };
  const firewall = await Firewall.open({ info: silent, warn: silent, error: silent }, [refusing]);
  await firewall.follow(null);
  await firewall.replaceBlocked([{ network: '192.0.2.1', seconds: 5 }]);
  expect({ canDrop: firewall.canDrop, dropped: await firewall.dropped() }).toEqual({ canDrop: false, dropped: null });
  const lists = {
    whitelist: [],
    blacklist: [],
    synProtection: true,
    sockets: [{ protocol: 'tcp', port: 80 }],
  } as const;
  await expect(firewall.follow(lists)).rejects.toThrow(
    'drops no packets for us, so only nginx refuses requests: sample: not permitted',
  );
});

const refuse = () => Promise.reject(new Error('not reached'));
const never = {
  name: 'sample',
  probe: refuse,
  apply: refuse,
  replaceBlocked: refuse,
  changeBlocked: refuse,
  replaceRisk: refuse,
  isApplied: refuse,
  counted: refuse,
  remove: refuse,
};
