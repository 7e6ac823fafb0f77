// Port forwards: what visitors get, origins receive and the log contains.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import path from 'node:path';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { portDoc as compilePort } from '@edgeloom/api/compile/port.ts';
import { portKey } from '@edgeloom/contract/edge/documents.ts';
import type { PortDoc } from '@edgeloom/contract/edge/documents.ts';
import { startUnresponsiveOrigin } from '../support/fakes/unresponsive-origin.ts';
import { upstream, zoneDoc } from '../support/services/edge.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { portDoc, sendTcp, sendUdp, startEcho, startForwards, startUdpEcho } from '../support/fakes/forwards.ts';
import { freePort, freePorts } from '../support/services/ports.ts';
import { startNameServer } from '../support/fakes/dns-server.ts';

const dns = await startNameServer();
const edge = await startForwards({ resolvers: [dns.address] });
const [one, two] = await Promise.all([startEcho('one'), startEcho('two')]);
afterAll(async () => {
  await edge.stop();
  await Promise.all([one.stop(), two.stop(), dns.stop()]);
});

/** A forward that is served when this resolves. */
async function forward(over: Partial<PortDoc> = {}): Promise<PortDoc> {
  const doc = portDoc(await freePort(), { upstreams: [upstream(one.port)], ...over });
  edge.put(doc);
  await edge.serves(doc);
  return doc;
}

async function names(port: number, times: number): Promise<string[]> {
  const servers: string[] = [];
  for (let i = 0; i < times; i += 1) servers.push((await sendTcp(port, 'x')).split(' ')[0] ?? '');
  return servers;
}
const times = (answers: string[], name: string) => answers.filter((one) => one === name).length;

/** A visitor from this local address. */
const visitorFrom = (localAddress: string, port: number) => connect({ host: '127.0.0.1', port, localAddress });

describe('address lists of a forward', () => {
  const answerTo = async (localAddress: string, port: number) => {
    const socket = visitorFrom(localAddress, port);
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', () => undefined);
    socket.write('hello');
    socket.once('data', () => socket.end());
    await new Promise((resolve) => socket.once('close', resolve));
    return Buffer.concat(chunks).toString();
  };

  test('refuse networks on `deny`, except those on `allow`, and change without a restart', async () => {
    const lists = {
      allow: ['127.0.0.9/32', '2001:db8::1/128'],
      deny: ['127.0.0.8/31', '203.0.113.0/24', '2001:db8::/32'],
    };
    const doc = await forward(lists);
    const [denied, allowed, other] = ['127.0.0.8', '127.0.0.9', '127.0.0.1'];
    expect([
      await answerTo(denied, doc.port),
      await answerTo(allowed, doc.port),
      await answerTo(other, doc.port),
    ]).toEqual(['', 'one hello', 'one hello']);
    edge.put({ ...doc, allow: [], deny: [] });
    await eventually(async () => expect(await answerTo(denied, doc.port)).toBe('one hello'));
  });

  test.each([
    ['an address of both lists is let in where the white list comes first', false, 'one hello'],
    ['an address of both lists is refused where the black list comes first', true, ''],
  ])('%s', async (_, denyFirst, answer) => {
    const { siteID, upstreams, ...row } = portDoc(await freePort());
    const lists = {
      allow: ['127.0.0.9'],
      deny: ['127.0.0.8-127.0.0.9'],
      denyFirst,
      maxConns: null,
      maskLogAddress: false,
    };
    const origins = upstreams.map(() => ({ ...upstream(one.port), enabled: true }));
    const doc = compilePort({ ...row, ...lists, siteId: siteID, upstreams: origins });
    if (doc === null) throw new Error('no document');
    edge.put(doc);
    await edge.serves(doc);
    expect([await answerTo('127.0.0.9', doc.port), await answerTo('127.0.0.8', doc.port)]).toEqual([answer, '']);
  });
});

describe('a limit of connections per visitor', () => {
  /** Empty for a connection that is closed or reset. */
  const answerOf = (socket: Socket) =>
    new Promise<string>((resolve) => {
      socket.once('data', (data) => resolve(String(data)));
      socket.once('close', () => resolve(''));
    });
  const open = async (localAddress: string, port: number) => {
    const socket = visitorFrom(localAddress, port);
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => undefined);
    socket.write('x');
    return { socket, answer: await answerOf(socket) };
  };

  test('closes further connections of this visitor, at this port, until one ends', async () => {
    const [doc, other] = [await forward({ limitConn: 2 }), await forward({ limitConn: 2 })];
    const first = await open('127.0.0.9', doc.port);
    const second = await open('127.0.0.9', doc.port);
    expect([first.answer, second.answer]).toEqual(['one x', 'one x']);
    expect((await open('127.0.0.9', doc.port)).answer).toBe('');
    expect((await open('127.0.0.8', doc.port)).answer).toBe('one x');
    expect((await open('127.0.0.9', other.port)).answer).toBe('one x');
    first.socket.destroy();
    await eventually(async () => expect((await open('127.0.0.9', doc.port)).answer).toBe('one x'));
  });

  test('changes without closing open connections', async () => {
    const doc = await forward({ limitConn: 2 });
    const held = [await open('127.0.0.9', doc.port), await open('127.0.0.9', doc.port)];
    edge.put({ ...doc, limitConn: 1 });
    // Only the new limit closes the second connection of a new visitor.
    let visitors = 0;
    await eventually(async () => {
      visitors += 1;
      const visitor = `127.1.${visitors >> 8}.${visitors & 255}`;
      const opened = [await open(visitor, doc.port), await open(visitor, doc.port)];
      for (const { socket } of opened) socket.destroy();
      expect(opened.map(({ answer }) => answer)).toEqual(['one x', '']);
    });
    for (const { socket } of held) {
      socket.write('y');
      expect(String((await once(socket, 'data'))[0])).toBe('one y');
    }
  });

  test('counts the address behind PROXY headers, IPv6 by its network of 64 bits, IPv4 in IPv6 as IPv4', async () => {
    const doc = await forward({ acceptProxy: true, limitConn: 1 });
    const behind = async (address: string) => {
      const socket = connect(doc.port, '127.0.0.1');
      onTestFinished(() => void socket.destroy());
      socket.on('error', () => undefined);
      const [family, to] = address.includes(':') ? ['TCP6', '::1'] : ['TCP4', '127.0.0.1'];
      socket.write(`PROXY ${family} ${address} ${to} 4711 80\r\nx`);
      return (await answerOf(socket)) === '' ? 'closed' : 'served';
    };
    const inPairs = [
      ['198.51.100.7', '198.51.100.7'],
      ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::9'],
      ['2001:db8::1', '2001:db8:0:0:7::'],
      ['2001:db8:5::1', '2001:db8:5:0:1:2:3:4'],
      ['2600::1', '2600::5:6:7:8'],
      ['2001:0:0:4:5::', '2001::4:5:6:7:8'],
      // Mapped IPv4, and IPv4 behind NAT64.
      ['::ffff:192.0.2.1', '192.0.2.1'],
      ['64:ff9b::192.0.2.2', '192.0.2.2'],
    ];
    for (const [one = '', again = ''] of inPairs)
      expect([one, await behind(one), await behind(again)]).toEqual([one, 'served', 'closed']);
    const apart = [
      '198.51.100.8',
      '2001:db8:1:3::9',
      '2001:db8:0:1::9',
      '2001:db8:6::1',
      '2600:0:0:1::1',
      '::ffff:192.0.2.3',
      '64:ff9b::192.0.2.4',
    ];
    for (const address of apart) expect([address, await behind(address)]).toEqual([address, 'served']);
  });
});

describe('a forward', () => {
  test('of TCP carries data in both directions', async () => {
    const { port } = await forward();
    expect(await sendTcp(port, 'hello')).toBe('one hello');
  });

  test('of UDP carries datagrams and responses', async () => {
    const echo = await startUdpEcho('udp');
    onTestFinished(() => echo.stop());
    const { port } = await forward({ protocol: 'udp', upstreams: [upstream(echo.port)] });
    expect(await sendUdp(port, 'hello')).toBe('udp hello');
  });

  test('of TCP and one of UDP may share a number', async () => {
    const echo = await startUdpEcho('udp');
    onTestFinished(() => echo.stop());
    const { port } = await forward();
    edge.put(portDoc(port, { protocol: 'udp', upstreams: [upstream(echo.port)] }));
    expect(await sendUdp(port, 'hello')).toBe('udp hello');
    expect(await sendTcp(port, 'hello')).toBe('one hello');
  });

  test('is closed when removed, and the others stay', async () => {
    const [gone, stays] = [await forward(), await forward()];
    edge.remove(portKey(gone.id));
    await eventually(() => expect(sendTcp(gone.port, 'x')).rejects.toThrow('ECONNREFUSED'));
    expect(await sendTcp(stays.port, 'x')).toBe('one x');
  });

  test('keeps open connections when its origin changes', async () => {
    const doc = await forward();
    const socket = connect(doc.port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    const answer = async (text: string) => {
      socket.write(text);
      const [data] = await once(socket, 'data');
      return String(data);
    };
    expect(await answer('before')).toBe('one before');
    edge.put({ ...doc, upstreams: [upstream(two.port)] });
    await eventually(async () => expect(await sendTcp(doc.port, 'x')).toBe('two x'));
    expect(await answer('after')).toBe('one after');
  });

  test('closes idle connections after its timeout', async () => {
    const { port } = await forward({ idleTimeoutSeconds: 1 });
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'close');
    expect(socket.destroyed).toBe(true);
  });

  test('logs site, client, origin and bytes', async () => {
    const doc = await forward();
    expect(await sendTcp(doc.port, 'logged')).toBe('one logged');
    const row = await eventually(async () => {
      const found = (await edge.rows()).find((entry) => entry['port'] === doc.id && entry['requestBytes'] === 6);
      if (found === undefined) throw new Error('no row');
      return found;
    });
    expect(row).toMatchObject({
      site: doc.siteID,
      protocol: 'TCP',
      number: doc.port,
      address: '127.0.0.1',
      status: 200,
      bytes: 'one logged'.length,
      upstream: `127.0.0.1:${one.port}`,
      time: expect.any(Number),
      sessionTime: expect.any(Number),
    });
  });

  test('logs the network of its client only, where the site masks addresses', async () => {
    const doc = await forward({ maskAddress: true });
    expect(await sendTcp(doc.port, 'masked')).toBe('one masked');
    await eventually(async () =>
      expect((await edge.rows()).find((entry) => entry['port'] === doc.id)).toMatchObject({ address: '127.0.0.0' }),
    );
  });
});

describe('the PROXY protocol', () => {
  const v1 = 'PROXY TCP4 203.0.113.7 127.0.0.1 4711 80\r\n';
  const v2 = Buffer.concat([
    Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1'),
    Buffer.from([0x21, 0x11, 0, 12, 203, 0, 113, 8, 127, 0, 0, 1, 0x12, 0x67, 0, 80]),
  ]);

  test.each([
    ['1', Buffer.from(v1), '203.0.113.7'],
    ['2', v2, '203.0.113.8'],
  ])('version %s identifies the client for the log, the origin and the hash', async (_, header, who) => {
    const echo = await startEcho('origin');
    onTestFinished(() => echo.stop());
    const doc = await forward({ acceptProxy: true, sendProxy: true, upstreams: [upstream(echo.port)] });
    await sendTcp(doc.port, Buffer.concat([header, Buffer.from('hello')]), /hello$/);
    expect(echo.received.at(-1)).toMatch(new RegExp(`^PROXY TCP4 ${who} 127\\.0\\.0\\.1 \\d+ \\d+\r\nhello$`));
    await eventually(async () =>
      expect(await edge.rows()).toContainEqual(expect.objectContaining({ port: doc.id, address: who, status: 200 })),
    );
  });

  test('is sent to the origin in version 1 for clients that connect without it', async () => {
    const echo = await startEcho('origin');
    onTestFinished(() => echo.stop());
    const { port } = await forward({ sendProxy: true, upstreams: [upstream(echo.port)] });
    await sendTcp(port, 'hello', /hello$/);
    expect(echo.received.at(-1)).toMatch(/^PROXY TCP4 127\.0\.0\.1 127\.0\.0\.1 \d+ \d+\r\nhello$/);
  });

  test('is required where the port accepts it', async () => {
    const doc = await forward({ acceptProxy: true });
    expect(await sendTcp(doc.port, 'GET / HTTP/1.0\r\n\r\n')).toBe('');
  });

  test('is plain data where the port does not accept it', async () => {
    const echo = await startEcho('origin');
    onTestFinished(() => echo.stop());
    const doc = await forward({ sendProxy: true, upstreams: [upstream(echo.port)] });
    await sendTcp(doc.port, v1, /4711 80\r\n$/);
    expect(echo.received.at(-1)).toMatch(/^PROXY TCP4 127\.0\.0\.1 [^\r]+\r\nPROXY TCP4 203\.0\.113\.7 [^\r]+\r\n$/);
  });
});

describe('with several origins', () => {
  const both = (over: [Partial<PortDoc['upstreams'][number]>, Partial<PortDoc['upstreams'][number]>] = [{}, {}]) => [
    upstream(one.port, over[0]),
    upstream(two.port, over[1]),
  ];

  test('requests are distributed by weight', async () => {
    const { port } = await forward({ upstreams: both([{ weight: 3 }, {}]) });
    const servers = await names(port, 40);
    expect([times(servers, 'one'), times(servers, 'two')]).toEqual([30, 10]);
  });

  test('a closed one is skipped', async () => {
    const { port } = await forward({ upstreams: [upstream(await freePort()), upstream(one.port)] });
    expect(await names(port, 10)).toEqual(Array.from({ length: 10 }, () => 'one'));
  });

  test('one that does not accept connections is skipped after the timeout', async () => {
    const deaf = await startUnresponsiveOrigin();
    onTestFinished(() => deaf.stop());
    const { port } = await forward({ connectTimeoutSeconds: 1, upstreams: [upstream(deaf.port), upstream(one.port)] });
    expect(await names(port, 3)).toEqual(['one', 'one', 'one']);
  });

  test('an IPv6 origin works', async () => {
    const six = createServer((socket) => socket.end('six'));
    six.listen(0, '::1');
    await once(six, 'listening');
    onTestFinished(() => void six.close());
    const address = six.address();
    const { port } = await forward({
      upstreams: [upstream(typeof address === 'object' ? (address?.port ?? 0) : 0, { address: '::1' })],
    });
    expect(await sendTcp(port, 'x')).toBe('six');
  });

  test('a backup is used when no other responds, and when it is the only one', async () => {
    const { port } = await forward({ upstreams: both([{}, { backup: true }]) });
    expect(new Set(await names(port, 6))).toEqual(new Set(['one']));
    const other = await forward({ upstreams: [upstream(await freePort()), upstream(two.port, { backup: true })] });
    expect(await names(other.port, 4)).toEqual(['two', 'two', 'two', 'two']);
    const alone = await forward({ upstreams: [upstream(two.port, { backup: true })] });
    expect(await names(alone.port, 2)).toEqual(['two', 'two']);
  });

  test('hashing by address keeps a client at one origin and spreads clients', async () => {
    const { port } = await forward({
      method: 'addressHash',
      acceptProxy: true,
      upstreams: [...both([{ weight: 100 }, { weight: 99 }]), upstream(one.port, { backup: true })],
    });
    const seen = async (visitor: number) =>
      (await sendTcp(port, `PROXY TCP4 198.51.100.${visitor} 127.0.0.1 1 2\r\nx`)).split(' ')[0] ?? '';
    const first = await Promise.all(Array.from({ length: 40 }, (_, i) => seen(i)));
    const again = await Promise.all(Array.from({ length: 40 }, (_, i) => seen(i)));
    expect(again).toEqual(first);
    expect(Math.min(times(first, 'one'), times(first, 'two'))).toBeGreaterThan(5);
  });

  test('least connections selects the idle one', async () => {
    const { port } = await forward({ method: 'leastConnections', upstreams: both() });
    const held = connect(port, '127.0.0.1');
    onTestFinished(() => void held.destroy());
    held.write('x');
    const [data] = await once(held, 'data');
    const busy = String(data).split(' ')[0];
    // The previous connection may still be counted.
    await eventually(async () =>
      expect(new Set(await names(port, 6))).toEqual(new Set([busy === 'one' ? 'two' : 'one'])),
    );
  });
});

describe('an origin with a host name', () => {
  test('follows DNS changes', async () => {
    dns.records.set('moves.example.com', { a: ['127.0.0.1'] });
    const doc = await forward({ upstreams: [upstream(one.port, { address: 'moves.example.com' })] });
    await eventually(async () => expect(await sendTcp(doc.port, 'x')).toBe('one x'));
    dns.records.set('moves.example.com', { a: ['127.0.0.9'] });
    const there = createServer((socket) => socket.end('elsewhere'));
    there.listen(one.port, '127.0.0.9');
    onTestFinished(() => void there.close());
    await eventually(async () => expect(await sendTcp(doc.port, 'x')).toBe('elsewhere'));
  });

  test('uses the last addresses while the DNS server is silent', async () => {
    dns.records.set('stays.example.com', { a: ['127.0.0.1'] });
    const doc = await forward({ upstreams: [upstream(one.port, { address: 'stays.example.com' })] });
    await eventually(async () => expect(await sendTcp(doc.port, 'x')).toBe('one x'));
    dns.behave('fail');
    onTestFinished(() => void dns.behave('answer'));
    const asked = dns.asked.length;
    await eventually(() => expect(dns.asked.length).toBeGreaterThan(asked + 4));
    expect(await sendTcp(doc.port, 'x')).toBe('one x');
  });

  test('uses the last addresses after an agent restart without DNS', async () => {
    dns.records.set('restarts.example.com', { a: ['127.0.0.1'] });
    const first = await startForwards({ resolvers: [dns.address] });
    const doc = portDoc(await freePort(), { upstreams: [upstream(one.port, { address: 'restarts.example.com' })] });
    const other = portDoc(await freePort(), { upstreams: [upstream(two.port)] });
    first.put(doc);
    await eventually(async () => expect(await sendTcp(doc.port, 'x')).toBe('one x'));
    await first.forwards.stop({ nginx: false });
    dns.behave('fail');
    onTestFinished(() => void dns.behave('answer'));
    const second = await startForwards({ resolvers: [dns.address], dir: first.dir, docs: [doc, other] });
    onTestFinished(() => second.stop());
    await second.serves(other);
    expect(await sendTcp(doc.port, 'x')).toBe('one x');
  });

  test.each([
    ['leads to where origins may not lie', { a: ['127.66.0.1'] }],
    ['leads there in IPv6', { aaaa: ['0:0:0:0:0:ffff:7f42:1'] }],
  ])('that %s is not used: connections are accepted and closed', async (_, record) => {
    const here = await startForwards({ resolvers: [dns.address] });
    onTestFinished(() => here.stop());
    here.put({
      ...zoneDoc({ http: here.zonePort, https: await freePort() }),
      originPolicy: { deny: ['127.0.0.0/8', '::1/128'], allow: [`127.0.0.1/32`] },
    });
    const there = createServer((socket) => socket.end('secret'));
    there.listen(0, '127.66.0.1');
    await once(there, 'listening');
    onTestFinished(() => void there.close());
    const address = there.address();
    const inner = typeof address === 'object' && address !== null ? address.port : 0;
    dns.records.set('private.example.com', record);
    const byName = portDoc(await freePort(), { upstreams: [upstream(inner, { address: 'private.example.com' })] });
    const byAddress = portDoc(await freePort(), {
      upstreams: [upstream(inner, { address: '127.66.0.1' }), upstream(inner, { address: '::1' })],
    });
    here.put(byName, byAddress);
    await here.serves(byAddress);
    expect(await sendTcp(byName.port, 'x')).toBe('');
    expect(await sendTcp(byAddress.port, 'x')).toBe('');
  });
});

describe('a port that cannot be opened', () => {
  test('because it is in use is reported, is served once free, and does not affect others', async () => {
    const holder = createServer((socket) => socket.end('the holder'));
    const port = await freePort();
    holder.listen(port, '127.0.0.1');
    await once(holder, 'listening');
    const doc = portDoc(port, { upstreams: [upstream(one.port)] });
    edge.put(doc);
    const other = await forward();
    expect(await sendTcp(other.port, 'x')).toBe('one x');
    await eventually(() => expect(edge.forwards.error).toBe(`layer 4: 127.0.0.1:${port} cannot be opened: EADDRINUSE`));
    await new Promise((resolve) => holder.close(resolve));
    await eventually(async () => expect(await sendTcp(port, 'x')).toBe('one x'));
    await eventually(() => expect(edge.forwards.error).toBeNull());
  });

  test('because the zone or another forward uses it is reported, too', async () => {
    const first = await forward();
    const second = portDoc(first.port, { id: 'ffffffff-ffff-4fff-bfff-ffffffffffff', upstreams: [upstream(two.port)] });
    const third = portDoc(edge.zonePort);
    edge.put(second, third);
    await eventually(() => {
      for (const port of [first.port, edge.zonePort])
        expect(edge.forwards.error).toContain(`port ${port}/tcp is taken by the zone or another forward`);
    });
    expect(await sendTcp(first.port, 'x')).toBe('one x');
    edge.remove(portKey(second.id), portKey(third.id));
    await eventually(() => expect(edge.forwards.error).toBeNull());
  });
});

test('clients of one forward cannot occupy all connections', async () => {
  const here = await startForwards();
  onTestFinished(() => here.stop());
  const [ports, https] = [await freePorts(2), await freePort()];
  const docs = ports.map((port) => portDoc(port, { upstreams: [upstream(one.port)] }));
  const [crowded = 0, calm = 0] = ports;
  here.put({ ...zoneDoc({ http: here.zonePort, https }), worker: { processes: 1, connections: 64 } }, ...docs);
  await eventually(async () => {
    for (const port of ports) expect(await sendTcp(port, 'x')).toBe('one x');
  });
  const held = Array.from({ length: 16 }, (_, i) => visitorFrom(`127.0.1.${1 + (i % 4)}`, crowded));
  onTestFinished(() => held.forEach((socket) => socket.destroy()));
  for (const socket of held) {
    socket.write('x');
    await once(socket, 'data');
  }
  expect(await sendTcp(crowded, 'x')).toBe('');
  expect(await sendTcp(calm, 'x')).toBe('one x');
  held[0]?.destroy();
  await eventually(async () => expect(await sendTcp(crowded, 'x')).toBe('one x'));
});

test('forwards in a loop leave room for clients of others', async () => {
  const here = await startForwards();
  onTestFinished(() => here.stop());
  const [[first = 0, second = 0, calm = 0], https] = [await freePorts(3), await freePort()];
  const leads = (port: number, to: number) => portDoc(port, { upstreams: [upstream(to)] });
  const zone = { ...zoneDoc({ http: here.zonePort, https }), worker: { processes: 1, connections: 256 } };
  here.put(zone, leads(first, second), leads(second, first), leads(calm, one.port));
  await eventually(async () => expect(await sendTcp(calm, 'x')).toBe('one x'));
  const guest = visitorFrom('127.0.1.9', calm);
  await once(guest, 'connect');
  const circling = visitorFrom('127.0.1.8', first);
  onTestFinished(() => [guest, circling].forEach((socket) => socket.destroy()));
  // The loop ends at the connection limit.
  await once(circling.resume(), 'close');
  guest.write('x');
  expect(String((await once(guest, 'data'))[0])).toBe('one x');
  expect(await readFile(path.join(here.dir, 'forwards/logs/error.log'), 'utf8')).not.toContain('not enough');
});

describe('a node', () => {
  test('that is disabled closes its forwards, runs no second nginx, and opens them again', async () => {
    const here = await startForwards();
    onTestFinished(() => here.stop());
    const doc = portDoc(await freePort(), { upstreams: [upstream(one.port)] });
    const node = { kind: 'node', id: here.nodeID, enabled: true, cacheMaxBytes: 0 } as const;
    here.put(node, doc);
    await eventually(async () => expect(await sendTcp(doc.port, 'x')).toBe('one x'));
    here.put({ ...node, enabled: false });
    await eventually(async () => expect(await here.processes()).toEqual([]));
    await expect(sendTcp(doc.port, 'x')).rejects.toThrow('ECONNREFUSED');
    here.put(node);
    await eventually(async () => expect(await sendTcp(doc.port, 'x')).toBe('one x'));
    here.remove(portKey(doc.id));
    await eventually(async () => expect(await here.processes()).toEqual([]));
  });

  test('serves more forwards than its workers have connections', async () => {
    const here = await startForwards();
    onTestFinished(() => here.stop());
    const ports = await freePorts(81);
    const docs = ports.slice(1).map((port) => portDoc(port, { upstreams: [upstream(one.port)] }));
    const udp = portDoc(ports[0] ?? 0, { protocol: 'udp' });
    const small = { processes: 2, connections: 64 };
    here.put({ ...zoneDoc({ http: here.zonePort, https: await freePort() }), worker: small }, udp, ...docs);
    await eventually(async () => {
      for (const { port } of docs) expect(await sendTcp(port, 'x')).toBe('one x');
    });
  });

  test("without nginx's stream module reports that", async () => {
    const here = await startForwards({ capabilities: { stream: false } });
    onTestFinished(() => here.stop());
    here.put(portDoc(await freePort()));
    await eventually(() => expect(here.forwards.error).toBe('layer 4: this nginx has no stream module'));
    expect(await here.processes()).toEqual([]);
  });

  test('whose nginx lacks the PROXY protocol serves other forwards', async () => {
    const here = await startForwards({ capabilities: { streamRealip: false } });
    onTestFinished(() => here.stop());
    const [takes, without] = [portDoc(await freePort(), { acceptProxy: true }), portDoc(await freePort())];
    here.put(takes, { ...without, upstreams: [upstream(one.port)] });
    await eventually(async () => expect(await sendTcp(without.port, 'x')).toBe('one x'));
    await eventually(() =>
      expect(here.forwards.error).toBe(
        `layer 4: port ${takes.port}/tcp takes the PROXY protocol, for which this nginx has no module`,
      ),
    );
  });

  test('restarts a killed second nginx', async () => {
    const here = await startForwards();
    onTestFinished(() => here.stop());
    const doc = portDoc(await freePort(), { upstreams: [upstream(one.port)] });
    here.put(doc);
    await eventually(async () => expect(await sendTcp(doc.port, 'x')).toBe('one x'));
    const before = await here.processes();
    for (const { pid, title } of before) if (title.includes('master')) process.kill(pid, 'SIGKILL');
    await eventually(async () => {
      const pids = (await here.processes()).map(({ pid }) => pid);
      expect(pids.some((pid) => before.some((old) => old.pid === pid))).toBe(false);
      expect(await sendTcp(doc.port, 'x')).toBe('one x');
    });
  });
});
