// Loaded with `node --import`: kills the process at its nth disk write. A write is cut in half; other steps have not
// begun.
// CRASH_AT is n. Without CRASH_AT the number of steps is printed to stderr on exit. The truncation of a file is no
// step: the number of steps before it is printed to stderr.
import fs from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';

const crashAt = Number(process.env['CRASH_AT'] ?? 0);
let steps = 0;

type Step = (...args: unknown[]) => unknown;

function counted(name: string, step: Step, isWrite: boolean): Step {
  return function (this: unknown, ...args: unknown[]) {
    steps += 1;
    if (steps === crashAt) {
      const [target, text] = name === 'handle' ? [this, args[0]] : args;
      if (isWrite && (typeof text === 'string' || text instanceof Uint8Array)) {
        const bytes = Buffer.from(text);
        const half = bytes.subarray(0, bytes.length >> 1);
        if (typeof target === 'string') fs.writeFileSync(target, half);
        else if (typeof target === 'object' && target !== null && 'fd' in target) fs.writeSync(Number(target.fd), half);
      }
      process.kill(process.pid, 'SIGKILL');
    }
    return Reflect.apply(step, this, args);
  };
}

const patch = (holder: object, name: string, kind: string, isWrite: boolean) => {
  const step: unknown = Reflect.get(holder, name);
  if (typeof step === 'function') {
    Reflect.set(
      holder,
      name,
      counted(kind, (...args) => Reflect.apply(step, undefined, args), isWrite),
    );
  }
};
for (const name of ['mkdir', 'rename', 'rm', 'open']) patch(promises, name, 'file', false);
patch(promises, 'writeFile', 'file', true);

const { truncate } = promises;
Reflect.set(promises, 'truncate', (...args: Parameters<typeof truncate>) => {
  process.stderr.write(`truncated after ${steps}\n`);
  return truncate(...args);
});

const file = path.join(tmpdir(), `crash-at-${process.pid}`);
const handle = await promises.open(file, 'w');
const prototype: object = Reflect.getPrototypeOf(handle) ?? {};
for (const name of ['writeFile', 'appendFile', 'sync', 'datasync']) {
  const step: unknown = Reflect.get(prototype, name);
  if (typeof step !== 'function') continue;
  const original: Step = function (this: unknown, ...args) {
    return Reflect.apply(step, this, args);
  };
  Reflect.set(prototype, name, counted('handle', original, name.endsWith('File')));
}
await handle.close();
fs.rmSync(file);
syncBuiltinESMExports();
steps = 0;
process.on('exit', () => process.stderr.write(`steps ${steps}\n`));
