// Runs the commands of docs/backup.md on a control plane with a node.
import { execFile } from 'node:child_process';
import { mkdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { expect, onTestFinished, test } from 'vitest';
import { deploy } from '../../prisma/migrate.ts';
import { unique } from '../support/builders/build.ts';
import type { BuiltSite } from '../support/builders/build.ts';
import { controlPlane } from '../support/services/control-plane.ts';
import type { ControlPlane } from '../support/services/control-plane.ts';
import { startDebianPostgres } from '../support/services/debian-postgres.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { joinSimulated } from '../support/fakes/simulated-node.ts';
import { testDir } from '../support/services/test-dir.ts';

const run = promisify(execFile);
const page = path.join(import.meta.dirname, '../../docs/backup.md');

/** Includes indented code blocks. */
async function documentedCommands(): Promise<{ backUp: string; restore: string }> {
  const text = await readFile(page, 'utf8');
  const [backUp, restore, ...rest] = [...text.matchAll(/```sh\n([^]*?)```/g)].map(([, block = '']) => block);
  if (backUp === undefined || restore === undefined || rest.length > 0) throw new Error(`${page} has other commands`);
  return { backUp, restore };
}

async function addDomain(plane: ControlPlane, site: BuiltSite): Promise<string> {
  const name = `${unique('www')}.example.com`;
  const body = { domains: [{ name, upstreams: [{ address: '127.0.0.1', port: 8080 }] }] };
  await plane.as(site.owner).call(domains.create, { params: site.params, body });
  return `host/${name}`;
}

test(
  'the documented commands restore a control plane, and its nodes have the same state',
  { timeout: 240_000 },
  async () => {
    const dir = await testDir();
    onTestFinished(() => rm(dir, { recursive: true, force: true }));
    const postgres = await startDebianPostgres(path.join(dir, 'postgres'));
    onTestFinished(() => postgres.stop());
    await postgres.query('CREATE DATABASE edgeloom');
    const databaseUrl = postgres.url('edgeloom');
    await deploy(databaseUrl);
    const plane = await controlPlane({ databaseUrl });
    onTestFinished(() => plane.stop());
    const { backUp, restore } = await documentedCommands();
    const env = {
      PATH: `${postgres.bin}:${process.env['PATH']}`,
      DATABASE_URL: databaseUrl,
      SECRETS_DIR: plane.secretsDir,
    };
    const shell = (commands: string) => run('sh', ['-euc', commands], { cwd: dir, env });

    const site = await plane.build.site();
    const node = await joinSimulated(await plane.node(site.zone));
    node.connect();
    onTestFinished(() => node.disconnect());
    const backedUpDomain = await addDomain(plane, site);
    await eventually(() => expect(node.docs.has(backedUpDomain)).toBe(true));
    await shell(backUp);
    const lost = [await addDomain(plane, site), await addDomain(plane, site)];
    await eventually(() => expect(lost.filter((key) => !node.docs.has(key))).toEqual([]));

    // The machine is lost with its database and secrets.
    await plane.api.stop();
    await postgres.query('DROP DATABASE edgeloom WITH (FORCE)');
    await rm(plane.secretsDir, { recursive: true });
    await mkdir(plane.secretsDir, { mode: 0o700 });
    await run('tar', ['-C', plane.secretsDir, '-xzf', path.join(dir, 'secrets.tar.gz')]);
    await postgres.query('CREATE DATABASE edgeloom');
    await shell(restore);
    await plane.api.start();

    await eventually(() => expect(lost.filter((key) => node.docs.has(key))).toEqual([]), { within: 30_000 });
    expect(node.docs.has(backedUpDomain)).toBe(true);
    // Sessions survive the restore.
    const added = await eventually(() => addDomain(plane, site));
    await eventually(() => expect(node.docs.has(added)).toBe(true));
  },
);
