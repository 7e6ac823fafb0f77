import { expect, test } from 'vitest';
import {
  beyondProviders,
  isUnwell,
  shownIn,
  standingOf,
  toneOfGroup,
  toneOfMember,
  undoOf,
  withChange,
  type Board,
  type Member,
} from './board.ts';

const member = (name: string, wish: Partial<Member> = {}): Member => ({
  nodeUID: `n-${name}`,
  name,
  role: 'main',
  weight: 50,
  addresses: [],
  isAnswered: true,
  reason: null,
  since: null,
  nodeStatus: 'enabled',
  ...wish,
});
const at = { groupID: 'g', line: 'default' };
const board: Board = {
  groups: [
    {
      id: 'g',
      name: 'Group',
      priority: 1,
      backupGroupID: null,
      backupGroupName: null,
      forcedAt: null,
      lines: [],
      serverIP: [],
      dnsLabel: 'g-0123456789',
      state: 'ok',
      stateSince: null,
      siteCount: 0,
      nodeCount: 1,
      createdAt: '2026-11-21T00:00:00Z',
      updatedAt: '2026-11-21T00:00:00Z',
      members: [{ line: 'default', members: [member('a')] }],
    },
  ],
  free: [member('b', { isAnswered: false, reason: 'standby' })],
};

test('a change is shown on its line, and one that leads back is none', () => {
  const lighter = withChange(board, [], { ...at, nodeUID: 'n-a', weight: 10 });
  expect(shownIn(board, lighter, at).map(({ weight }) => weight)).toEqual([10]);
  const gone = withChange(board, lighter, { ...at, nodeUID: 'n-a', weight: null });
  expect(shownIn(board, gone, at)).toEqual([]);
  expect(withChange(board, gone, { ...at, nodeUID: 'n-a', weight: 50 })).toEqual([]);
});

test('an undo gives each changed place the weight that it had', () => {
  const changes = [
    { ...at, nodeUID: 'n-a', weight: null },
    { ...at, nodeUID: 'n-b', weight: 50 },
  ];
  expect(undoOf(board, changes)).toEqual([
    { ...at, nodeUID: 'n-a', weight: 50 },
    { ...at, nodeUID: 'n-b', weight: null },
  ]);
});

test('who comes from elsewhere stands there, and is not judged before it is published', () => {
  const come = withChange(board, [], { ...at, nodeUID: 'n-b', weight: 50 });
  expect(shownIn(board, come, at).map(({ name, reason }) => [name, reason])).toEqual([
    ['a', null],
    ['b', null],
  ]);
  expect(withChange(board, come, { ...at, nodeUID: 'n-b', weight: null })).toEqual([]);
});

test('a node that is lost is bad, one that stands by is held', () => {
  expect([toneOfMember(member('a', { reason: 'away' })), toneOfMember(member('b', { reason: 'standby' }))]).toEqual([
    'bad',
    'held',
  ]);
});

test('an offline or rejected node is bad although DNS still answers with it', () => {
  const tones = (['enabled', 'offline', 'rejected', 'natsError', 'reconnecting', null] as const).map((nodeStatus) =>
    toneOfMember(member('a', { nodeStatus })),
  );
  expect(tones).toEqual(['ok', 'bad', 'bad', 'warn', 'busy', 'ok']);
  expect(isUnwell([member('a'), member('b', { nodeStatus: 'rejected' })])).toBe(true);
});

test('provider limits cover the lines in use and the lines in the draft', () => {
  const lines = ['default', 'ct'];
  const can = (weighting: 'eachLine' | 'oneLine' | 'none' | null, isOffered = true) => ({
    data: lines.map((line) => ({ line, isOffered: isOffered || line === 'default' })),
    weighting,
  });
  const nothing = { lines: [], weighting: null };
  const beside = withChange(board, [], { ...at, nodeUID: 'n-b', weight: 10 });
  const onLine = withChange(board, beside, { groupID: 'g', line: 'ct', nodeUID: 'n-b', weight: 50 });
  const limitsOf = (...given: Parameters<typeof can>) => beyondProviders(board, onLine, lines, can(...given));
  expect(limitsOf('eachLine')).toEqual(nothing);
  expect(limitsOf('oneLine')).toEqual({ lines: [], weighting: 'oneLine' });
  expect(limitsOf('none', false)).toEqual({ lines: ['ct'], weighting: 'none' });
  expect(limitsOf(null, false)).toEqual(nothing);
  expect(beyondProviders(board, beside, lines, can('oneLine', false))).toEqual(nothing);
  expect(beyondProviders(board, [], lines, can('none', false))).toEqual(nothing);
});

// Regression: a group whose nodes were offline when they were placed was shown as "No nodes yet".
test('a group whose nodes never had an answer is a warning, and is not shown as one without nodes', () => {
  const group = { state: 'empty', nodeCount: 2 } as const;
  expect([standingOf(group), toneOfGroup(group)]).toEqual(['neverAnswered', 'warn']);
  const bare = { state: 'empty', nodeCount: 0 } as const;
  expect([standingOf(bare), toneOfGroup(bare)]).toEqual(['empty', 'off']);
  const last = { state: 'lastGood', nodeCount: 2 } as const;
  expect([standingOf(last), toneOfGroup(last)]).toEqual(['lastGood', 'bad']);
});
