// Steps of the node's clock. The control plane corrects the times of a batch by the difference of the clocks when the
// batch is sent, so lines from before a step are sent with the clock of that time. A pause of the whole virtual machine
// looks like a step, and moves the times of lines that were not sent before it.
import { uptime } from 'node:os';
import type { LogFile } from './log-files.ts';

export interface Clock {
  /** Milliseconds since 1970, which an administrator may change. */
  wall: () => number;
  /** Milliseconds since the machine's start, including sleep. */
  monotonic: () => number;
}
export const machineClock: Clock = { wall: () => Date.now(), monotonic: () => uptime() * 1000 };

/** By smaller steps the lines of one moment cannot be distinguished. */
const MIN_STEP_MS = 10_000;
/** nginx writes its buffers each second, so lines from before a step appear so long after it. */
const SETTLE_MS = 3000;
/** A clock that does not come to rest delays lines this long. */
const MAX_WAIT_MS = 30_000;
/** Lines from before older steps move by them. */
const MAX_STEPS = 100;
const NEWLINE = 0x0a;

/** Lines before `from` are from before the step, and lines from `to` on from after it. Between, their time decides. */
interface Range {
  from: number;
  to: number;
}
interface Step {
  /** How far the clock was set forward. */
  deltaMs: number;
  /** The new time of the step. */
  wall: number;
  settlesAt: number;
  isSettled: boolean;
  ranges: Map<string, Range>;
}

export class ClockSteps {
  readonly #clock: Clock;
  #difference: number;
  #sizes = new Map<string, number>();
  #steps: Step[] = [];
  #waitsSince: number | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#difference = clock.wall() - clock.monotonic();
  }

  /**
   * Called at least each second. Lines after a step can be sent once this returns true. `reached`: the first byte of a
   * file that was not sent.
   */
  look(files: readonly Pick<LogFile, 'id' | 'size'>[], reached: (id: string) => number): boolean {
    const [wall, monotonic] = [this.#clock.wall(), this.#clock.monotonic()];
    const deltaMs = wall - monotonic - this.#difference;
    if (Math.abs(deltaMs) >= MIN_STEP_MS) {
      const ranges = new Map(files.map(({ id }) => [id, { from: this.#sizes.get(id) ?? 0, to: Infinity }]));
      this.#steps.push({ deltaMs, wall, settlesAt: monotonic + SETTLE_MS, isSettled: false, ranges });
    }
    // A clock that is adjusted slowly makes no step.
    this.#difference = wall - monotonic;
    this.#sizes = new Map(files.map(({ id, size }) => [id, size]));
    for (const step of this.#steps) if (!step.isSettled) settle(step, files, monotonic);
    this.#forgetFiles(reached);
    if (this.#steps.every(({ isSettled }) => isSettled)) this.#waitsSince = null;
    else this.#waitsSince ??= monotonic;
    return this.#waitsSince === null || monotonic - this.#waitsSince >= MAX_WAIT_MS;
  }

  /**
   * The first of these whole lines, as far as they were written by the same clock. `sentAt`: the present time of that
   * clock.
   */
  cut(file: string, from: number, lines: Buffer): { lines: Buffer; sentAt: number } {
    const wall = this.#clock.wall();
    const steps = this.#steps.flatMap(({ ranges, ...step }) => {
      const range = ranges.get(file);
      return range !== undefined && from < range.to ? { ...step, range } : [];
    });
    if (steps.length === 0 || lines.length === 0) return { lines, sentAt: Math.round(wall) };
    const lagOf = (start: number, end: number) =>
      steps.reduce(
        (sum, step) => (isBefore(step, from + start, lines.subarray(start, end)) ? sum + step.deltaMs : sum),
        0,
      );
    let end = endOfLine(lines, 0);
    const lag = lagOf(0, end);
    while (end < lines.length) {
      const next = endOfLine(lines, end);
      if (lagOf(end, next) !== lag) break;
      end = next;
    }
    return { lines: lines.subarray(0, end), sentAt: Math.round(wall - lag) };
  }

  /** A step is over when all lines from before it were sent or deleted. */
  #forgetFiles(reached: (id: string) => number): void {
    for (const { ranges } of this.#steps)
      for (const [id, { to }] of ranges) if (!this.#sizes.has(id) || reached(id) >= to) ranges.delete(id);
    this.#steps = this.#steps.filter(({ ranges }) => ranges.size > 0).slice(-MAX_STEPS);
  }
}

/** Files that appear meanwhile have lines from before the step, too. */
function settle(step: Step, files: readonly Pick<LogFile, 'id' | 'size'>[], monotonic: number): void {
  for (const { id } of files) if (!step.ranges.has(id)) step.ranges.set(id, { from: 0, to: Infinity });
  if (monotonic < step.settlesAt) return;
  for (const { id, size } of files) step.ranges.set(id, { from: step.ranges.get(id)?.from ?? 0, to: size });
  step.isSettled = true;
}

function isBefore(
  { deltaMs, wall, range }: Omit<Step, 'ranges'> & { range: Range },
  at: number,
  line: Buffer,
): boolean {
  if (at < range.from || at >= range.to) return at < range.from;
  const time = Number(/"time":([\d.]+)/.exec(line.toString('latin1'))?.[1]) * 1000;
  return Math.abs(time - (wall - deltaMs)) < Math.abs(time - wall);
}

function endOfLine(lines: Buffer, from: number): number {
  const at = lines.indexOf(NEWLINE, from);
  return at < 0 ? lines.length : at + 1;
}
