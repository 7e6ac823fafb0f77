// PCRE and PCRE2, which run patterns at the edge, as WebAssembly (built by `packages/contract/pcre/build.sh`).
import { readFileSync } from 'node:fs';

export interface PatternError {
  /** In characters, from 0. */
  offset: number;
  message: string;
}

interface Engine {
  memory: WebAssembly.Memory;
  text_at(): number;
  text_size(): number;
  message_at(): number;
  offset_of(): number;
  check(bytes: number): number;
}

let engine: Engine | null = null;
const isEngine = (exports: object): exports is Engine => 'check' in exports && 'memory' in exports;
function load(): Engine {
  const file = readFileSync(new URL('../../pcre/pcre.wasm', import.meta.url));
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(file));
  if (!isEngine(exports)) throw new Error('pcre.wasm does not export what build.sh names');
  return exports;
}

/** Why an engine rejects the pattern. Null: both accept it. Compares bytes, like the edge. */
export function patternError(pattern: string): PatternError | null {
  const bytes = Buffer.from(pattern);
  engine ??= load();
  const { memory } = engine;
  if (bytes.includes(0) || bytes.length >= engine.text_size()) return { offset: 0, message: 'too long' };
  try {
    const at = engine.text_at();
    const room = new Uint8Array(memory.buffer, at, bytes.length + 1);
    room.set(bytes);
    room[bytes.length] = 0;
    if (engine.check(bytes.length) === 0) return null;
    const offset = bytes.subarray(0, engine.offset_of()).toString().length;
    return { offset, message: textAt(memory, engine.message_at()) };
  } catch (error) {
    if (!(error instanceof WebAssembly.RuntimeError)) throw error;
    // The instance may be damaged, so the next pattern gets a new one.
    engine = null;
    return { offset: 0, message: 'too complex' };
  }
}

function textAt(memory: WebAssembly.Memory, at: number): string {
  const bytes = Buffer.from(memory.buffer, at);
  return bytes.toString('latin1', 0, bytes.indexOf(0));
}
