import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { expect, test } from 'vitest';

const module = JSON.stringify(path.join(import.meta.dirname, 'end-with-parent.ts'));

test('a program ends with the process that started it, even if that was killed', async () => {
  const code = `import { endWithParent } from ${module}; endWithParent(); console.log('runs'); setInterval(() => 0, 1000);`;
  const parent = spawn('sh', ['-c', '"$0" --input-type=module-typescript -e "$1"; true', process.execPath, code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = once(parent.stdout, 'close');
  expect(String(await once(parent.stdout, 'data'))).toBe('runs\n');
  parent.kill('SIGKILL');
  // Both hold the pipe.
  await closed;
  expect(parent.signalCode).toBe('SIGKILL');
});
