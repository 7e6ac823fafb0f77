// The training of the firewall's model: logistic regression over hashed n-grams, as agent/lua/edge/waf/model.lua uses
// them.
import type { Model } from '@edgeloom/waf-rules/pack.ts';

export interface Sample {
  isAttack: boolean;
  fold: number;
  /** Values that the engine looked at: a place and token numbers, joined by commas. */
  values: readonly string[];
}

const WINDOW = 40;
const FEATURES = 65_536;
const START = 264;
const END = 265;
const starts: Readonly<Record<string, number>> = { path: 266, document: 272, raw: 273, filename: 274 };

const mix = (hash: number, token: number) => {
  let h = (hash + token) | 0;
  h = (h + (h << 10)) | 0;
  h ^= h >>> 6;
  h = (h + (h << 3)) | 0;
  return h ^ (h >>> 11);
};

/** The features of each token, four each. */
function featuresOf(value: string): Int32Array {
  const [place = '', ...texts] = value.split(',');
  const list: number[] = [];
  let [p3, p2, p1] = [0, 0, starts[place] ?? START];
  for (const token of [...texts.map(Number), END]) {
    if (token === p1 && token === p2) continue;
    list.push(
      mix(7, token) & 65_535,
      mix(mix(11, p1), token) & 65_535,
      mix(mix(mix(13, p2), p1), token) & 65_535,
      mix(mix(mix(mix(17, p3), p2), p1), token) & 65_535,
    );
    [p3, p2, p1] = [p2, p1, token];
  }
  return Int32Array.from(list);
}

/** Windows of a value, each n-gram once. */
function windowsOf(value: string): Int32Array[] {
  const all = featuresOf(value);
  if (all.length <= WINDOW * 4) return [Int32Array.from(new Set(all))];
  const windows: Int32Array[] = [];
  for (let from = 0; ; from += WINDOW * 2) {
    const last = from + WINDOW * 4 >= all.length;
    const at = last ? all.length - WINDOW * 4 : from;
    windows.push(Int32Array.from(new Set(all.subarray(at, at + WINDOW * 4))));
    if (last || windows.length >= 200) return windows;
  }
}

class Regression {
  readonly weights = new Float64Array(FEATURES + 1);
  readonly #squares = new Float64Array(FEATURES + 1).fill(1e-6);

  score(features: Int32Array): number {
    let sum = this.weights[FEATURES] ?? 0;
    for (const feature of features) sum += this.weights[feature] ?? 0;
    return sum;
  }

  learn(features: Int32Array, label: 0 | 1, importance: number) {
    const error = (1 / (1 + Math.exp(-this.score(features))) - label) * importance;
    if (Math.abs(error) < 1e-4) return;
    for (const feature of features) this.#step(feature, error);
    this.#step(FEATURES, error);
  }

  #step(feature: number, error: number) {
    const gradient = error + DECAY * (this.weights[feature] ?? 0);
    this.#squares[feature] = (this.#squares[feature] ?? 0) + gradient * gradient;
    this.weights[feature] = (this.weights[feature] ?? 0) - (RATE * gradient) / Math.sqrt(this.#squares[feature] ?? 1);
  }
}
const DECAY = 2e-4;
const RATE = 0.08;
const EPOCHS = 6;
const SCALE = 0.03;
/** How much all attacks weigh together, relative to all benign windows. */
const ATTACK_SHARE = 0.7;

const MAX_IMPORTANCE = 20;

/** The worst window of each attack. Copies count less and less. */
function worstOf(bags: readonly Int32Array[][], model: Regression) {
  const worst = new Map<string, { features: Int32Array; number: number }>();
  for (const bag of bags) {
    const features = bag.reduce((most, one) => (model.score(one) > model.score(most) ? one : most));
    const key = features.join();
    const known = worst.get(key);
    if (known) known.number += 1;
    else worst.set(key, { features, number: 1 });
  }
  return [...worst.values()].map(({ features, number }) => ({ features, importance: Math.sqrt(number) }));
}

/** A fixed sequence, so that the same data gives the same weights. */
function shuffled<T>(list: readonly T[], seed: number): T[] {
  const copy = [...list];
  let state = seed;
  for (let i = copy.length - 1; i > 0; i -= 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const k = state % (i + 1);
    const [a, b] = [copy[i], copy[k]];
    if (a !== undefined && b !== undefined) [copy[i], copy[k]] = [b, a];
  }
  return copy;
}

export function train(samples: readonly Sample[]): Model {
  const benignValues = new Set(samples.filter(({ isAttack }) => !isAttack).flatMap(({ values }) => values));
  const benign = [...benignValues].flatMap(windowsOf);
  // A value that ordinary requests have as well is no attack.
  const bags = samples
    .filter(({ isAttack }) => isAttack)
    .map(({ values }) => [...new Set(values)].filter((value) => !benignValues.has(value)).flatMap(windowsOf))
    .filter((bag) => bag.length > 0);
  let model = new Regression();
  let attacks = bags.flatMap((bag) => bag.map((features) => ({ features, importance: 1 / bag.length })));
  for (let round = 0; round < 3; round += 1) {
    if (round > 0) attacks = worstOf(bags, model);
    const sum = attacks.reduce((total, { importance }) => total + importance, 0);
    const factor = (ATTACK_SHARE * benign.length) / sum;
    model = new Regression();
    const all = [
      ...benign.map((features) => ({ features, label: 0 as const, importance: 1 })),
      ...attacks.map(({ features, importance }) => ({
        features,
        label: 1 as const,
        importance: Math.min(MAX_IMPORTANCE, importance * factor),
      })),
    ];
    for (let epoch = 0; epoch < EPOCHS; epoch += 1)
      for (const { features, label, importance } of shuffled(all, round * 100 + epoch))
        model.learn(features, label, importance);
  }
  return packed(model);
}

function packed({ weights }: Regression): Model {
  const bytes: number[] = [];
  for (let feature = 0; feature < FEATURES; feature += 1) {
    const weight = Math.max(-127, Math.min(127, Math.round((weights[feature] ?? 0) / SCALE)));
    if (Math.abs(weight) > 1) bytes.push(feature >> 8, feature & 255, weight + 128);
  }
  return {
    bias: Number((weights[FEATURES] ?? 0).toFixed(3)),
    scale: SCALE,
    places: {},
    packed: Buffer.from(bytes).toString('base64'),
  };
}
