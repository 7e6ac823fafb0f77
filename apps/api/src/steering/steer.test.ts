import { describe, expect, test } from 'vitest';
import { nodeHealthOf, withParents, type NodeFacts, type NodeHealth } from './node-health.ts';
import { answerFor, steer, type GroupFacts, type MemberFacts, type VirtualNodeFacts, type World } from './steer.ts';

const now = new Date('2026-11-21T12:00:00Z');
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000);
const later = (seconds: number) => ago(-seconds);

const node = (name: string, overrides: Partial<NodeFacts> = {}): NodeFacts => ({
  id: name,
  zoneId: 'zone',
  name,
  ip: `192.0.2.${name.replace(/\D/g, '') || '1'}`,
  role: 'main',
  kind: 'edge',
  enabled: true,
  drainEndsAt: null,
  joinedAt: ago(3600),
  parentId: null,
  bandwidthMbps: 0,
  isAlwaysInDns: false,
  monitors: null,
  connectedAt: ago(600),
  lastSeenAt: ago(10),
  nginx: 'running',
  sent: null,
  ...overrides,
});
const away = { connectedAt: null, lastSeenAt: ago(20) };

describe('a node', () => {
  const see = (facts: NodeFacts, before: NodeHealth | null, reached: boolean | null = null, at = now) =>
    nodeHealthOf(facts, before, reached, at);
  const well = see(node('a'), null);

  test.each([
    ['that serves is answered', node('a'), true, null],
    ['that never joined is not', node('a', { joinedAt: null }), false, 'uninitialized'],
    ['that is switched off is not', node('a', { enabled: false }), false, 'disabled'],
    [
      'that drains is not, although it serves',
      node('a', { enabled: false, drainEndsAt: later(60) }),
      false,
      'draining',
    ],
    ['that serves edge nodes alone is not', node('a', { kind: 'relay' }), false, 'relay'],
    ['whose nginx stands is not', node('a', { nginx: 'stopped' }), false, 'nginx'],
    ['whose nginx does not respond', node('a', { nginx: 'unresponsive' }), false, 'nginx'],
    ['that rolled back serves', node('a', { nginx: 'rolledBack' }), true, null],
    [
      'whose operator wants it answered whatever is found is',
      node('a', { nginx: 'stopped', isAlwaysInDns: true }),
      true,
      null,
    ],
    ['of which nothing was ever seen is not answered on trust', node('a', away), false, 'away'],
  ] as const)('%s', (_, facts, isIn, reason) => {
    expect(see(facts, null)).toMatchObject({ isIn, reason });
  });

  test('that is cut off from us goes on being answered while it takes visitors', () => {
    const seen = see(node('a', away), well, true, later(5));
    expect(seen).toMatchObject({ isIn: true, failures: 0 });
    expect(see(node('a', away), seen, null, later(500))).toMatchObject({ isIn: true });
  });

  test('is given up after two looks in vain, and comes back when it has been well for ten seconds', () => {
    const once = see(node('a', away), well, false, later(1));
    expect(once).toMatchObject({ isIn: true, failures: 1 });
    const lost = see(node('a', away), once, false, later(2));
    expect(lost).toMatchObject({ isIn: false, reason: 'away', since: later(2) });
    // A returned node recovers first. Another failure restarts the recovery period.
    const back = see(node('a', { lastSeenAt: later(20) }), lost, null, later(20));
    expect(back).toMatchObject({ isIn: false, reason: 'recovering', wellSince: later(20) });
    expect(see(node('a', { nginx: 'stopped', lastSeenAt: later(25) }), back, null, later(25))).toMatchObject({
      reason: 'nginx',
      wellSince: null,
    });
    expect(see(node('a', { lastSeenAt: later(29) }), back, null, later(29))).toMatchObject({ reason: 'recovering' });
    expect(see(node('a', { lastSeenAt: later(30) }), back, null, later(30))).toMatchObject({
      isIn: true,
      reason: null,
    });
  });

  describe('whose monitors found an error', () => {
    const monitored = (monitors: NodeFacts['monitors']) => node('a', { monitors });
    const failed = see(monitored({ monitors: 3, able: 3, failing: 2, passing: 0 }), well, null, now);
    const passing = monitored({ monitors: 3, able: 3, failing: 0, passing: 3 });
    const incapable = monitored({ monitors: 3, able: 0, failing: 0, passing: 0 });
    const nothing = monitored({ monitors: 3, able: 3, failing: 0, passing: 0 });

    test('is well when they have found no error for half a minute', () => {
      expect(failed).toMatchObject({ monitorStatus: 'error', monitorSince: now });
      const better = see(passing, failed, null, later(5));
      expect(better).toMatchObject({ monitorStatus: 'error', monitorSince: now });
      const relapsed = see(monitored({ monitors: 3, able: 3, failing: 2, passing: 1 }), better, null, later(10));
      const again = see(passing, relapsed, null, later(20));
      expect(see(passing, again, null, later(49))).toMatchObject({ monitorStatus: 'error' });
      expect(see(passing, again, null, later(50))).toMatchObject({ monitorStatus: 'normal', monitorSince: later(50) });
    });

    test('keeps it over an outage in which they are silent, but not for ever', () => {
      // The first pass after an outage of any length finds all monitors silent.
      const silent = see(nothing, failed, null, later(3600));
      expect(silent).toMatchObject({ monitorStatus: 'error', monitorSince: now });
      expect(see(nothing, silent, null, later(3899))).toMatchObject({ monitorStatus: 'error' });
      expect(see(nothing, silent, null, later(3900))).toMatchObject({ monitorStatus: 'unknown' });
    });

    test('keeps it for half a minute of results without one, however long they were silent before', () => {
      const silent = see(nothing, failed, null, later(5));
      const first = monitored({ monitors: 3, able: 3, failing: 0, passing: 1 });
      const back = see(first, see(nothing, silent, null, later(200)), null, later(205));
      expect(back).toMatchObject({ monitorStatus: 'error' });
      expect(see(passing, back, null, later(234))).toMatchObject({ monitorStatus: 'error' });
      expect(see(passing, back, null, later(235))).toMatchObject({ monitorStatus: 'normal' });
    });

    test('keeps it as long while none of them can check it any more', () => {
      const silent = see(incapable, failed, null, later(5));
      expect(see(incapable, silent, null, later(304))).toMatchObject({ monitorStatus: 'error' });
      expect(see(incapable, silent, null, later(305))).toMatchObject({ monitorStatus: 'unknown' });
    });

    test('is not judged by them any more without monitors, or when it is not monitored', () => {
      const none = monitored({ monitors: 0, able: 0, failing: 0, passing: 0 });
      expect(see(none, failed, null, later(1))).toMatchObject({ monitorStatus: 'unknown' });
      expect(see(monitored(null), failed, null, later(1))).toMatchObject({ monitorStatus: 'unknown' });
    });
  });

  test('that was switched off comes back at once', () => {
    const off = see(node('a', { enabled: false }), well);
    expect(see(node('a'), off, null, later(1))).toMatchObject({ isIn: true, since: later(1) });
  });

  test('that says nothing for long is looked at although its connection stands', () => {
    const silent = node('a', { lastSeenAt: ago(100), connectedAt: ago(600) });
    expect(see(silent, { ...well, failures: 1 }, false)).toMatchObject({ isIn: false, reason: 'away' });
  });

  test('is busy above what its line carries, and until it is well below', () => {
    const at = (sent: number, before: NodeHealth | null) => see(node('a', { bandwidthMbps: 100, sent }), before).isBusy;
    expect([
      at(90e6, null),
      at(101e6, null),
      at(90e6, { ...well, isBusy: true }),
      at(79e6, { ...well, isBusy: true }),
    ]).toEqual([false, true, true, false]);
  });

  test('that is another address of a machine is dead with it', () => {
    const nodes = new Map([
      ['a', node('a', { nginx: 'stopped' })],
      ['b', node('b', { joinedAt: null, connectedAt: null, parentId: 'a' })],
    ]);
    const found = new Map([...nodes].map(([id, facts]) => [id, see(facts, null)]));
    expect(found.get('b')).toMatchObject({ isIn: true });
    expect(withParents(nodes, found).get('b')).toMatchObject({ isIn: false, reason: 'parent' });
  });
});

interface WorldOptions {
  nodes?: NodeFacts[];
  /** Offline nodes, for 30 seconds or for the given number of seconds. */
  out?: (string | [string, number])[];
  busy?: string[];
  /** Nodes whose monitors find errors, in the order in which these began. */
  failing?: string[];
  virtualNodes?: VirtualNodeFacts[];
  groups: Record<string, { on?: Record<string, (string | [string, number])[]> } & Partial<GroupFacts>>;
}
function worldOf({ nodes = [], out = [], busy = [], failing = [], virtualNodes = [], groups }: WorldOptions): World {
  const isVirtual = (name: string) => virtualNodes.some(({ id }) => id === name);
  const members = (on: Record<string, (string | [string, number])[]>): MemberFacts[] =>
    Object.entries(on).flatMap(([line, names]) =>
      names.map((one) => {
        const [name, weight] = typeof one === 'string' ? [one, 50] : one;
        return { line, weight, nodeId: isVirtual(name) ? null : name, virtualNodeId: isVirtual(name) ? name : null };
      }),
    );
  const unseen = new Map(out.map((one) => (typeof one === 'string' ? [one, 30] : one)));
  return {
    nodes: new Map(nodes.map((facts) => [facts.id, facts])),
    standings: new Map(
      nodes.map(({ id }) => [
        id,
        {
          isIn: !unseen.has(id),
          reason: unseen.has(id) ? 'away' : null,
          since: ago(unseen.get(id) ?? 30),
          wellSince: null,
          failures: 0,
          isBusy: busy.includes(id),
          monitorStatus: failing.includes(id) ? 'error' : 'unknown',
          monitorSince: failing.includes(id) ? later(failing.indexOf(id)) : null,
          monitorClearSince: null,
          monitorSilentSince: null,
        },
      ]),
    ),
    virtualNodes: new Map(virtualNodes.map((facts) => [facts.id, facts])),
    groups: new Map(
      Object.entries(groups).map(([id, { on = {}, ...overrides }]) => [
        id,
        {
          id,
          zoneId: 'zone',
          clientId: 'client',
          name: id,
          dnsLabel: `g-${id}`,
          backupGroupId: null,
          forcedAt: null,
          last: [],
          members: members(on),
          ...overrides,
        },
      ]),
    ),
  };
}
const look = (options: WorldOptions, group = 'g', at = now) => {
  const result = steer(worldOf(options), group, at);
  if (!result) throw new Error('no such group');
  return {
    state: result.state,
    on: (line: string) => {
      const { answered } = answerFor(result, line);
      return answered?.answers.map(({ name, value }) => name || value).toSorted() ?? [];
    },
    whyNot: (line: string) =>
      Object.fromEntries(
        result.outcomes.get(line)?.flatMap(({ name, reason }) => (reason ? [[name, reason]] : [])) ?? [],
      ),
    sets: result.sets,
  };
};
const virtual = (id: string, records: Partial<VirtualNodeFacts['records'][number]>[], switchingInterval = 0) => ({
  id,
  name: id,
  switchingInterval,
  records: records.map((record) => ({ cname: null, ip: null, nodeId: null, ...record })),
});

describe('a line', () => {
  const nodes = [node('a1'), node('a2'), node('a3'), node('b8', { role: 'backup' }), node('b9', { role: 'backup' })];

  test('answers its nodes by weight, and others as the default', () => {
    const { on, sets, state } = look({
      nodes,
      groups: {
        g: {
          on: {
            default: [
              ['a1', 40],
              ['a2', 20],
            ],
            cht: ['a3'],
          },
        },
      },
    });
    expect([on('default'), on('cht'), on('ct'), state]).toEqual([['a1', 'a2'], ['a3'], ['a1', 'a2'], 'ok']);
    expect(sets).toContainEqual({
      line: 'default',
      type: 'A',
      ttlSeconds: 60,
      values: [
        { value: '192.0.2.1', weight: 40 },
        { value: '192.0.2.2', weight: 20 },
      ],
    });
  });

  test('keeps IPv4 and IPv6 apart', () => {
    const both = [node('a1'), node('a2', { ip: '2001:db8::2' })];
    const { sets } = look({ nodes: both, groups: { g: { on: { default: ['a1', 'a2'] } } } });
    expect(sets.map(({ type, values }) => [type, values.map(({ value }) => value)])).toEqual([
      ['A', ['192.0.2.1']],
      ['AAAA', ['2001:db8::2']],
    ]);
  });

  test('has a backup for each node that is not there, and no more', () => {
    const groups = { g: { on: { default: ['a1', 'a2', ['b8', 10], ['b9', 90]] } } } satisfies WorldOptions['groups'];
    expect(look({ nodes, groups })).toMatchObject({ state: 'ok' });
    expect(look({ nodes, groups }).whyNot('default')).toEqual({ b8: 'standby', b9: 'standby' });
    const one = look({ nodes, groups, out: ['a1'] });
    expect([one.on('default'), one.state]).toEqual([['a2', 'b9'], 'backups']);
    expect(look({ nodes, groups, out: ['a1', 'a2'] }).on('default')).toEqual(['b8', 'b9']);
  });

  test('without a healthy node is answered as the default', () => {
    const groups = { g: { on: { default: ['a1'], cht: ['a2'] } } };
    expect(look({ nodes, groups, out: ['a2'] }).on('cht')).toEqual(['a1']);
  });

  test('does without the nodes whose monitors find errors, never without more than half of its nodes', () => {
    const mains = { g: { on: { default: ['a1', 'a2', 'a3'] } } };
    const most = look({ nodes, groups: mains, failing: ['a2', 'a1', 'a3'] });
    expect([most.on('default'), most.whyNot('default')]).toEqual([['a1', 'a3'], { a2: 'monitor' }]);
    const alone = { g: { on: { default: ['a1'] } } };
    expect(look({ nodes, groups: alone, failing: ['a1'] }).on('default')).toEqual(['a1']);
    const backups = { g: { on: { default: ['b8', 'b9'] } } };
    expect(look({ nodes, groups: backups, failing: ['b9', 'b8'] }).on('default')).toEqual(['b8']);
  });

  test('replaces nodes whose monitors find errors by backups, never by backups that fail too', () => {
    const pair = { g: { on: { default: ['a1', 'b8'] } } };
    expect(look({ nodes, groups: pair, failing: ['a1'] }).on('default')).toEqual(['b8']);
    const groups = { g: { on: { default: ['a1', 'a2', ['b8', 10], ['b9', 90]] } } } satisfies WorldOptions['groups'];
    expect(look({ nodes, groups, failing: ['a1', 'a2'] }).on('default')).toEqual(['b8', 'b9']);
    expect(look({ nodes, groups, failing: ['b9', 'a1'] }).on('default')).toEqual(['a2', 'b8']);
    expect(look({ nodes, groups, failing: ['b9', 'a1', 'a2'] }).on('default')).toEqual(['a2', 'b8']);
    const all = look({ nodes, groups, failing: ['b9', 'b8', 'a1', 'a2'] });
    expect([all.on('default'), all.state]).toEqual([['a2'], 'ok']);
    expect(all.whyNot('default')).toEqual({ a1: 'monitor', b8: 'monitor', b9: 'monitor' });
  });

  test('counts a backup for one missing node only', () => {
    const mains = [node('a1'), node('a2'), node('a3'), node('a4')];
    const all = [...mains, node('b8', { role: 'backup' }), node('b9', { role: 'backup' })];
    const groups = { g: { on: { default: all.map(({ name }) => name) } } };
    // Both backups stand in for the nodes that are away.
    const seen = look({ nodes: all, groups, out: ['a3', 'a4'], failing: ['a1', 'a2'] });
    expect(seen.on('default')).toEqual(['a2', 'b8', 'b9']);
    expect(look({ nodes: all, groups, out: ['a4'], failing: ['a1', 'a2', 'a3'] }).on('default')).toHaveLength(4);
  });

  test('takes backups whose monitors find errors while fewer than half of its nodes are left', () => {
    const groups = { g: { on: { default: ['a1', 'a2', 'b8', 'b9'] } } };
    expect(look({ nodes, groups, out: ['a1'], failing: ['b8', 'b9'] }).on('default')).toEqual(['a2']);
    expect(look({ nodes, groups, out: ['a1', 'a2'], failing: ['b8', 'b9'] }).on('default')).toHaveLength(1);
  });

  test('does without half of its nodes at most, busy ones and those of monitors together', () => {
    const groups = { g: { on: { default: ['a1', 'a2', 'a3', 'a4'] } } };
    const loaded = ['a1', 'a2', 'a3', 'a4'].map((name) => node(name, { bandwidthMbps: 100, sent: 150e6 }));
    const seen = look({ nodes: loaded, groups, failing: ['a1'], busy: ['a2', 'a3', 'a4'] });
    expect(seen.on('default')).toHaveLength(2);
    expect(look({ nodes: loaded, groups, failing: ['a1', 'a2'], busy: ['a3'] }).on('default')).toEqual(['a3', 'a4']);
  });

  test('does without its busiest nodes, never without more than half of them', () => {
    const loaded = [
      node('a1', { bandwidthMbps: 100, sent: 150e6 }),
      node('a2', { bandwidthMbps: 100, sent: 120e6 }),
      node('a3', { bandwidthMbps: 100, sent: 110e6 }),
    ];
    const groups = { g: { on: { default: ['a1', 'a2', 'a3'] } } };
    const all = look({ nodes: loaded, busy: ['a1', 'a2', 'a3'], groups });
    expect([all.on('default'), all.whyNot('default')]).toEqual([['a2', 'a3'], { a1: 'busy' }]);
    expect(look({ nodes: loaded, busy: ['a1'], groups: { g: { on: { default: ['a1'] } } } }).on('default')).toEqual([
      'a1',
    ]);
  });

  test('sends no visitors to a node of weight 0', () => {
    const { on, whyNot } = look({ nodes, groups: { g: { on: { default: ['a1', ['a2', 0]] } } } });
    expect([on('default'), whyNot('default')]).toEqual([['a1'], { a2: 'zero' }]);
  });
});

describe('a virtual node', () => {
  const nodes = [node('a1'), node('a2')];

  test('answers all its addresses, and of nodes the address they have', () => {
    const v = virtual('v', [{ ip: '198.51.100.1' }, { nodeId: 'a1' }, { nodeId: 'a2' }]);
    const { sets } = look({ nodes, out: ['a2'], virtualNodes: [v], groups: { g: { on: { default: ['v'] } } } });
    expect(sets[0]?.values.map(({ value }) => value)).toEqual(['198.51.100.1', '192.0.2.1']);
  });

  test('answers one record after the other by the clock', () => {
    const v = virtual('v', [{ ip: '198.51.100.1' }, { ip: '198.51.100.2' }], 60);
    const at = (seconds: number) =>
      look({ virtualNodes: [v], groups: { g: { on: { default: ['v'] } } } }, 'g', later(seconds)).sets[0]?.values[0]
        ?.value;
    expect(new Set([at(0), at(30)]).size).toBe(1);
    expect(new Set([at(0), at(60)]).size).toBe(2);
    expect(at(0)).toBe(at(120));
  });

  test('that leads to a name stands behind addresses, since DNS knows no name beside them', () => {
    const v = virtual('v', [{ cname: 'cdn.example.net' }]);
    const groups = { g: { on: { default: ['a1', 'v'] } } };
    expect(look({ nodes, virtualNodes: [v], groups }).whyNot('default')).toEqual({ v: 'beside' });
    const alone = look({ nodes, virtualNodes: [v], groups, out: ['a1'] });
    expect(alone.sets).toMatchObject([{ type: 'CNAME', values: [{ value: 'cdn.example.net' }] }]);
  });

  test('without a record that is on is not answered', () => {
    const groups = { g: { on: { default: ['a1', 'v'] } } };
    expect(look({ nodes, virtualNodes: [virtual('v', [])], groups }).whyNot('default')).toEqual({ v: 'noRecord' });
  });
});

describe('a group', () => {
  const nodes = [node('a1'), node('a2'), node('h1', { ip: '203.0.113.1' }), node('h2', { ip: '203.0.113.2' })];
  const h = { on: { default: ['h1'], cht: ['h2'] } };

  test('that has nothing is answered by its backup group, on the lines that it has nothing for', () => {
    const groups = { g: { on: { default: ['a1'], ct: ['a2'] }, backupGroupId: 'h' }, h };
    const { on, state } = look({ nodes, groups, out: ['a1'] });
    expect([state, on('default'), on('cht'), on('ct')]).toEqual(['backupGroup', ['h1'], ['h2'], ['a2']]);
  });

  test('is answered by its backup group alone when that is forced', () => {
    const groups = { g: { on: { default: ['a1'], ct: ['a2'] }, backupGroupId: 'h', forcedAt: ago(60) }, h };
    const { on, state } = look({ nodes, groups });
    expect([state, on('default'), on('cht'), on('ct')]).toEqual(['forced', ['h1'], ['h2'], ['h1']]);
  });

  test('goes on answering itself while a forced backup group has nothing', () => {
    const groups = { g: { on: { default: ['a1'] }, backupGroupId: 'h', forcedAt: ago(60) }, h };
    expect(look({ nodes, groups, out: ['h1', 'h2'] })).toMatchObject({ state: 'ok' });
  });

  test('never answers nothing: what was answered last stays', () => {
    const last = [
      { line: 'default', type: 'A' as const, values: [{ value: '192.0.2.1', weight: 50 }], ttlSeconds: 60 },
      { line: 'cht', type: 'A' as const, values: [{ value: '192.0.2.2', weight: 50 }], ttlSeconds: 60 },
    ];
    const groups = { g: { on: { default: ['a1'], cht: ['a2'] }, last } };
    const { state, sets } = look({ nodes, groups, out: ['a1', 'a2'] });
    expect([state, sets]).toEqual(['lastGood', [last[0]]]);
    expect(look({ nodes, groups: { g: {} } })).toMatchObject({ state: 'empty', sets: [] });
  });

  test('whose nodes go offline one by one does not send all visitors to the last one', () => {
    const last = [
      { line: 'default', type: 'A' as const, values: [{ value: '192.0.2.2', weight: 50 }], ttlSeconds: 60 },
    ];
    const groups = { g: { on: { default: ['a1', 'a2', 'h1', ['h2', 0] as [string, number]] }, last } };
    const { sets } = look({ nodes, groups, out: ['a2', ['a1', 60], ['h1', 3600], 'h2'] });
    // A node that was lost an hour earlier does not count.
    expect(sets).toEqual([
      {
        line: 'default',
        type: 'A',
        values: [
          { value: '192.0.2.2', weight: 50 },
          { value: '192.0.2.1', weight: 50 },
        ],
        ttlSeconds: 60,
      },
    ]);
  });

  test('that backs another and is backed by it leads into no circle', () => {
    const groups = {
      g: { on: { default: ['a1'] }, backupGroupId: 'h' },
      h: { on: { default: ['h1'] }, backupGroupId: 'g' },
    };
    expect(look({ nodes, groups, out: ['a1'] }).on('default')).toEqual(['h1']);
    expect(look({ nodes, groups, out: ['a1', 'h1'] })).toMatchObject({ state: 'empty' });
  });
});
