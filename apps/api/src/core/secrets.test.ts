import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { initSecrets, readMasterKeys, writeMasterKeys } from './secrets-dir.ts';
import { envelope, openSecrets } from './secrets.ts';

const folders: string[] = [];
afterEach(() => Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true }))));

async function emptyDir() {
  const folder = await mkdtemp(path.join(tmpdir(), 'secrets-'));
  folders.push(folder);
  return path.join(folder, 'secrets');
}

const key = (id: string) => ({ id, key: Buffer.alloc(32, id) });

test('secrets are made once, for the owner alone, also by several starts at once', async () => {
  const dir = await emptyDir();
  await Promise.all([initSecrets(dir), initSecrets(dir), initSecrets(dir)]);
  const names = ['master.key', 'session.key', 'nats.json'];
  const read = () => Promise.all(names.map((name) => readFile(path.join(dir, name), 'utf8')));
  const before = await read();
  await initSecrets(dir);
  expect(await read()).toEqual(before);
  expect((await stat(dir)).mode & 0o777).toBe(0o700);
  for (const name of names) expect((await stat(path.join(dir, name))).mode & 0o777).toBe(0o600);
});

test('a sealed value opens where it belongs', async () => {
  const dir = await emptyDir();
  await initSecrets(dir);
  const sealed = (await openSecrets(dir)).seal('密鑰', 'zones/1/key');
  expect(sealed).not.toContain('密鑰');
  expect((await openSecrets(dir)).open(sealed, 'zones/1/key')).toBe('密鑰');
});

test('a sealed value does not open in another row, nor after a change of any of its parts', () => {
  const { seal, open } = envelope(() => [key('a')]);
  const sealed = seal('text', 'zones/1/key');
  expect(() => open(sealed, 'zones/2/key')).toThrow();
  for (const i of [2, 3]) {
    const parts = sealed.split('.');
    const box = Buffer.from(parts[i] ?? '', 'base64url');
    box[20] = (box[20] ?? 0) ^ 1;
    parts[i] = box.toString('base64url');
    expect(() => open(parts.join('.'), 'zones/1/key')).toThrow();
  }
});

test('the master key is rotated without opening a value', () => {
  const old = envelope(() => [key('a')]).seal('text', 'here');
  const both = envelope(() => [key('b'), key('a')]);
  expect(both.open(old, 'here')).toBe('text');
  const fresh = both.rewrap(old);
  expect(fresh.split('.')[3]).toBe(old.split('.')[3]);
  expect(envelope(() => [key('b')]).open(fresh, 'here')).toBe('text');
  expect(() => envelope(() => [key('b')]).open(old, 'here')).toThrow('master key a');
});

test('two seals of one text differ', () => {
  const { seal } = envelope(() => [key('a')]);
  expect(seal('text', 'here')).not.toBe(seal('text', 'here'));
});

test('a process that is running follows the file: it seals by the new key and opens by both', async () => {
  const dir = await emptyDir();
  await initSecrets(dir);
  const running = await openSecrets(dir);
  const old = running.seal('text', 'here');
  const [first] = readMasterKeys(dir);
  await writeMasterKeys(dir, [{ key: Buffer.alloc(32, 'n') }, ...(first ? [first] : [])]);
  const [fresh] = readMasterKeys(dir);
  expect(running.seal('text', 'here').split('.')[1]).toBe(fresh?.id);
  expect(running.open(old, 'here')).toBe('text');
  expect(running.open((await openSecrets(dir)).rewrap(old), 'here')).toBe('text');
  expect((await stat(path.join(dir, 'master.key'))).mode & 0o777).toBe(0o600);
});
