// A seeded random generator, so that generated data is the same in every run.
export class SeededRandom {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** A number in [0, 1), by mulberry32. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  is(share: number): boolean {
    return this.next() < share;
  }

  one<T>(list: readonly [T, ...T[]]): T {
    return list[Math.floor(this.next() * list.length)] ?? list[0];
  }

  some<T>(share: number, list: readonly T[]): T[] {
    return list.filter(() => this.is(share));
  }

  /** An array of 0 to `most` elements. */
  many<T>(most: number, make: () => T): T[] {
    return Array.from({ length: Math.floor(this.next() * (most + 1)) }, make);
  }
}
