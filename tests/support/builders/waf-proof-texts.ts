// Reads the texts of the firewall's proof sets. A text is in one of two halves: rule authors may read `development`,
// and must not read `held-out`. All requests with a text are in its half.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { WafRequest } from '../services/waf-engine.ts';
import { SeededRandom } from './seeded-random.ts';
import type { Place } from './waf-places.ts';

export const HALVES = ['development', 'held-out'] as const;
export type Half = (typeof HALVES)[number];

export interface ProofText {
  /** The start of the hash of its line, which names the text without showing it. */
  id: string;
  category: string;
  half: Half;
  text: string;
  /** Seeded by the text, so that a new text changes no requests of others. */
  random: SeededRandom;
}

export interface ProofRequest {
  textId: string;
  category: string;
  half: Half;
  text: string;
  place: Place;
  request: WafRequest;
}

/** `[category]` lines, and a text per line below them. Throws if a text is in the file of the other half. */
export async function readTexts(name: 'waf-attacks' | 'waf-ordinary-texts'): Promise<ProofText[]> {
  const files = await Promise.all(HALVES.map((half) => readFile(fileOf(name, half), 'utf8')));
  return HALVES.flatMap((half, i) => {
    const texts: ProofText[] = [];
    let category = '';
    for (const line of files[i]?.split('\n') ?? []) {
      const [, title] = /^\[([\w -]+)\]$/.exec(line) ?? [];
      if (title !== undefined) category = title;
      else if (line !== '' && !line.startsWith('# ')) {
        const hash = createHash('sha256').update(line).digest();
        if (halfOf(hash) !== half) throw new Error(`this line of ${name}-${half}.txt is of the other half: ${line}`);
        const text = line.replaceAll('␍', '\r').replaceAll('␊', '\n');
        const id = hash.toString('hex').slice(0, 8);
        texts.push({ id, category, half, text, random: new SeededRandom(hash.readUInt32BE(1)) });
      }
    }
    return texts;
  });
}

const fileOf = (name: string, half: Half) => path.join(import.meta.dirname, `${name}-${half}.txt`);

/** By the first byte of the SHA-256 of the line. */
const halfOf = (hash: Buffer): Half => (hash.readUInt8(0) % 2 === 0 ? 'development' : 'held-out');

const DRAWS_PER_REQUEST = 6;
/** Draws requests until `count` of them are not in `known`, and adds these to it. A short text has fewer. */
export function drawDistinct(count: number, known: Set<string>, draw: (i: number) => ProofRequest): ProofRequest[] {
  const requests: ProofRequest[] = [];
  for (let i = 0; i < count * DRAWS_PER_REQUEST && requests.length < count; i++) {
    const drawn = draw(i);
    const key = JSON.stringify(drawn.request);
    if (known.has(key)) continue;
    known.add(key);
    requests.push(drawn);
  }
  return requests;
}
