import { describe, expect, test } from 'vitest';
import { ClockSteps } from './clock-steps.ts';

const HOUR = 3_600_000;
const START = Date.UTC(2026, 0, 1);

/** A node with one log file. `passed` is the true time since the start; its clock may be off. */
function nodeWithClock() {
  let [passed, offset, text, reached] = [0, 0, '', 0];
  const wall = () => START + passed + offset;
  const steps = new ClockSteps({ wall, monotonic: () => passed });
  return {
    look: (id = 'one') => steps.look([{ id, size: Buffer.byteLength(text) }], () => reached),
    reachEnd: () => (reached = Buffer.byteLength(text)),
    wait: (ms: number) => (passed += ms),
    set: (ms: number) => (offset += ms),
    /** A line that nginx writes `late` milliseconds after its request, by the clock of the request. */
    write: (late = 0, clock = offset) =>
      (text += `{"time":${((START + passed - late + clock) / 1000).toFixed(3)},"true":${passed - late}}\n`),
    /** The batches of the file from a position, and the errors of their lines' times after the correction. */
    send: (from = 0, id = 'one') => {
      const batches: number[][] = [];
      for (let at = from; at < Buffer.byteLength(text);) {
        const { lines, sentAt } = steps.cut(id, at, Buffer.from(text).subarray(at));
        const rows = lines.toString().trimEnd().split('\n');
        batches.push(
          rows.map((row) => {
            const line: { time: number; true: number } = JSON.parse(row);
            return Math.round(line.time * 1000 + (START + passed - sentAt) - (START + line.true));
          }),
        );
        at += lines.length;
      }
      return batches;
    },
  };
}

/** Looks each second until the lines may be sent. */
function settle({ look, wait }: ReturnType<typeof nodeWithClock>, id?: string) {
  let looks = 0;
  while (!look(id)) {
    wait(1000);
    looks += 1;
  }
  return looks;
}

// Regression: all lines of a batch moved by an hour.
test('lines in one file from before, between and after two steps of an hour keep their time', () => {
  const node = nodeWithClock();
  node.write();
  node.look();
  for (const step of [HOUR, -HOUR]) {
    node.wait(1000);
    node.write();
    node.set(step);
    node.write();
    expect(settle(node)).toBeGreaterThan(0);
    node.write();
    node.wait(1000);
    node.look();
  }
  expect(node.send()).toEqual([
    [0, 0],
    [0, 0, 0],
    [0, 0],
  ]);
});

test('lines from before a step that nginx writes after lines from after it keep their time', () => {
  const node = nodeWithClock();
  node.look();
  node.wait(500);
  node.set(-HOUR);
  node.write();
  node.wait(800);
  node.write(900, 0);
  node.write();
  settle(node);
  expect(node.send()).toEqual([[0], [0], [0]]);
});

test('lines wait at most three seconds after a step', () => {
  const node = nodeWithClock();
  node.write();
  expect(node.look()).toBe(true);
  node.set(HOUR);
  expect(settle(node)).toBe(3);
});

test('a file that begins after a step has one clock, also where its times pass those of the step', () => {
  const node = nodeWithClock();
  node.look('old');
  node.set(-HOUR);
  settle(node, 'old');
  node.wait(HOUR - 5000);
  for (let i = 0; i < 10; i += 1) {
    node.write();
    node.wait(1000);
  }
  node.look('new');
  expect(node.send(0, 'new')).toEqual([Array(10).fill(0)]);
});

test('an hour of silence and a slowly adjusted clock are no step', () => {
  const node = nodeWithClock();
  node.write();
  node.look();
  for (let i = 0; i < 100; i += 1) {
    node.wait(1000);
    node.set(50);
    expect(node.look()).toBe(true);
  }
  node.wait(HOUR);
  node.write();
  expect(node.look()).toBe(true);
  expect(node.send()).toHaveLength(1);
});

// Regression: lines were never sent, and each line was compared with all steps since the file began.
describe('a clock that does not come to rest', () => {
  test('delays lines by half a minute', () => {
    const node = nodeWithClock();
    node.look();
    const looks = Array.from({ length: 60 }, () => {
      node.set(HOUR);
      node.wait(1000);
      return node.look();
    });
    expect(looks).toEqual(looks.map((_, i) => i >= 30));
  });

  test('has at most a hundred steps that count', () => {
    const node = nodeWithClock();
    for (let i = 0; i < 102; i += 1) {
      node.write();
      node.look();
      node.set(i % 2 === 0 ? HOUR : -HOUR);
      settle(node);
    }
    // Two steps are forgotten, and cancel each other out for the first line.
    const errors = node.send().flat();
    expect(errors.map((error) => error !== 0)).toEqual([false, true, ...Array(100).fill(false)]);
  });
});

test('a step is forgotten once all lines from before it were sent', () => {
  const node = nodeWithClock();
  node.write();
  node.look();
  node.set(HOUR);
  settle(node);
  expect(node.send()).toEqual([[0]]);
  node.reachEnd();
  node.look();
  expect(node.send()).toEqual([[-HOUR]]);
});
