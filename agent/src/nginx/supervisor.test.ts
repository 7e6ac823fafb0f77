import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { layoutOf } from '../layout.ts';
import { Nginx } from './supervisor.ts';

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

test('an nginx that a killed agent was only starting is ended, so that it opens nothing behind the next one', async () => {
  const dir = await mkdtemp(path.join(tmpdir(), 'edgeloom-supervisor-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const layout = layoutOf(dir);
  await mkdir(layout.run, { recursive: true });
  // It waits where nginx has not given itself a title yet.
  const starting = spawn('/bin/sh', ['-c', 'echo; read x', 'nginx', '-p', dir, '-c', 'nginx.conf'], { cwd: dir });
  onTestFinished(() => void starting.kill('SIGKILL'));
  await once(starting.stdout, 'data');
  const ended = once(starting, 'exit');
  await new Nginx('nginx', layout, silent).clear();
  expect(await ended).toEqual([null, 'SIGQUIT']);
});
