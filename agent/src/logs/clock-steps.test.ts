import { expect, test } from 'vitest';
import { ClockSteps } from './clock-steps.ts';

const HOUR = 3_600_000;
const START = Date.UTC(2026, 0, 1);

/** A node with one log file. `passed` is the true time since the start; its clock may be off. */
function nodeWithClock() {
  let [passed, offset, text] = [0, 0, ''];
  const wall = () => START + passed + offset;
  const steps = new ClockSteps({ wall, monotonic: () => passed });
  return {
    look: (id = 'one') => steps.look([{ id, size: Buffer.byteLength(text) }]),
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
