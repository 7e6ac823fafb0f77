// Builds both images of docker-compose.yml on a local base image, and follows the documented commands up to a request
// through the edge.
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { session } from '@edgeloom/contract/auth/auth.endpoints.ts';
import { connect } from '@edgeloom/contract/client.ts';
import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { clientSites } from '@edgeloom/contract/sites/sites.endpoints.ts';
import { zoneSettings } from '@edgeloom/contract/zone-settings/zone-settings.endpoints.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Summary } from '../../deploy/quickstart/demo.ts';
import { containerBase, findCompose } from '../support/services/container-base.ts';
import { eventually } from '../support/assertions/eventually.ts';
import { requireImage } from '../support/services/local-images.ts';
import { freePorts } from '../support/services/ports.ts';
import { testDir } from '../support/services/test-dir.ts';
import { visit } from '../support/assertions/visit.ts';

const root = path.join(import.meta.dirname, '../..');
const run = promisify(execFile);
const MB = 1e6;

describe('the containers', () => {
  const project = `edgeloomtest${process.pid}`;
  const ports = { PORT: 0, ADMIN_PORT: 0, EDGE_HTTP_PORT: 0, EDGE_HTTPS_PORT: 0, NATS_PORT: 0 };
  let files: string[] = [];
  let summary: Summary;

  const compose = async (...args: string[]) => {
    const [program, ...first] = await findCompose();
    const env = {
      ...process.env,
      ...Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, String(port)])),
      MAIL_FROM: 'Containers <mail@example.com>',
      DOCKER_BUILDKIT: '0',
      COMPOSE_DOCKER_CLI_BUILD: '0',
    };
    const named = [...first, '-p', project, '--project-directory', root, ...files.flatMap((file) => ['-f', file])];
    return run(program, [...named, ...args], { cwd: root, env, maxBuffer: 1 << 26 });
  };
  const docker = async (...args: string[]) => (await run('docker', args)).stdout.trim();
  const signedIn = async (kind: 'client' | 'user') => {
    const { email, password } = summary.accounts[kind];
    const base = `${summary.api}/api/v1`;
    const stranger = connect({ base, family: kind, token: () => null });
    const { onePassKey, vcode = '' } = await stranger(session.login, { body: { email, password } });
    const { accessToken } = await stranger(session.code, { body: { email, onePassKey, vcode } });
    return connect({ base, family: kind, token: () => accessToken });
  };

  beforeAll(async () => {
    await requireImage(containerBase);
    const dir = await testDir();
    const numbers = await freePorts(5);
    for (const name of ['PORT', 'ADMIN_PORT', 'EDGE_HTTP_PORT', 'EDGE_HTTPS_PORT', 'NATS_PORT'] as const)
      ports[name] = numbers.pop() ?? 0;
    await mkdir(dir, { recursive: true });
    await writeFile(path.join(dir, 'password'), 'a-password-of-the-test', { mode: 0o644 });
    await writeFile(path.join(dir, 'override.json'), JSON.stringify(override(dir, project)));
    files = [path.join(root, 'docker-compose.yml'), path.join(dir, 'override.json')];
    await compose('up', '-d', '--build').catch(async (error: unknown) => {
      const { stdout } = await compose('logs', '--no-color');
      throw new Error(`${String(error).slice(-4000)}\n${stdout.slice(-8000)}`);
    });
    const { stdout } = await compose('logs', '--no-color', 'setup');
    const text = stdout.replace(/^[^|\n]*\| ?/gm, '');
    summary = Summary.parse(JSON.parse(/^\{[^]*^\}/m.exec(text)?.[0] ?? ''));
  }, 900_000);

  afterAll(async () => {
    if (files.length === 0) return;
    await compose('down', '--volumes', '--remove-orphans', '--timeout', '5');
    await docker('image', 'rm', '--force', ...['setup', 'api', 'edge'].map((name) => `${project}-${name}`));
  }, 120_000);

  test('the printed URLs are those that the compose file publishes', async () => {
    expect(summary).toMatchObject({
      console: `http://127.0.0.1:${ports.PORT}`,
      adminConsole: `http://127.0.0.1:${ports.ADMIN_PORT}`,
      api: `http://127.0.0.1:${ports.PORT}`,
      edge: { http: `http://127.0.0.1:${ports.EDGE_HTTP_PORT}`, https: `https://127.0.0.1:${ports.EDGE_HTTPS_PORT}` },
    });
    for (const address of [`${summary.console}/user/`, `${summary.adminConsole}/admin/`])
      await eventually(async () => expect((await fetch(address)).status).toBe(200));
  });

  test('a site that is created in the console is served by the edge', { timeout: 120_000 }, async () => {
    const { domain, productID } = summary.demo;
    await eventually(async () => expect(await visit(ports.EDGE_HTTP_PORT, domain)).toMatchObject({ status: 200 }), {
      within: 90_000,
    });
    const operator = await signedIn('client');
    const { id } = await operator(clientSites.create, { body: { name: 'In containers', productID } });
    const origin = await docker(
      'inspect',
      '-f',
      '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}',
      (await compose('ps', '-q', 'origin')).stdout.trim(),
    );
    const name = 'www.containers.example.com';
    await operator(domains.create, {
      params: { siteId: id },
      body: { domains: [{ name, upstreams: [{ address: origin, port: 9000 }] }] },
    });
    await eventually(async () => expect(await visit(ports.EDGE_HTTP_PORT, name)).toMatchObject({ status: 200 }), {
      within: 60_000,
    });
  });

  test("the API image's nginx validates snippets", async () => {
    const operator = await signedIn('client');
    const body = { nginx: { enable: true, custom: 'proxy_next_upstream_tries 3;' } };
    const { checks } = await operator(zoneSettings.preview, { params: { zoneId: summary.demo.zoneID }, body });
    expect(checks.map(({ name, state }) => [name, state])).toEqual([
      ['edge', 'passed'],
      ['relay', 'passed'],
      ['forwards', 'passed'],
    ]);
  });

  test('the documented command creates an administrator', { timeout: 120_000 }, async () => {
    const line = ['node', 'apps/api/src/cli.ts', 'account:create-admin', '--email', 'you@example.com'];
    const { stdout } = await compose('run', '--rm', '-T', 'setup', ...line);
    expect(stdout).toMatch(/Administrator you@example\.com\s+Password\s+\S{20}/);
  });

  test('settings reach the API, and machines that become nodes get Node from it', async () => {
    const { stdout } = await compose('exec', '-T', 'api', 'sh', '-c', 'echo "$MAIL_FROM"; ls /artifacts');
    expect(stdout).toMatch(/^Containers <mail@example\.com>\nnode-v24\S+-linux-\S+\.tar\.gz\n$/);
  });

  test('the API image is at most 350 MB larger than its base', async () => {
    const size = async (image: string) => Number(await docker('image', 'inspect', '-f', '{{.Size}}', image));
    expect((await size(`${project}-api`)) - (await size(containerBase.tag))).toBeLessThan(350 * MB);
  });
});

/** Replaces the registry images by the local base image with equivalent entry points. */
function override(dir: string, project: string) {
  const built = { build: { args: { BASE: containerBase.tag, INSTALL_FLAGS: '--offline' } } };
  const postgres = `bin=/usr/lib/postgresql/15/bin
    install -o postgres -m 600 /run/secrets/postgres_password /tmp/password
    as() { setpriv --reuid=postgres --regid=postgres --init-groups "$@"; }
    install -d -o postgres /data
    as $bin/initdb -D /data/db -U edgeloom --auth=scram-sha-256 --pwfile=/tmp/password --encoding=UTF8
    echo 'host all all all scram-sha-256' >> /data/db/pg_hba.conf
    echo 'local all all trust' > /data/hba && cat /data/db/pg_hba.conf >> /data/hba && cat /data/hba > /data/db/pg_hba.conf
    as $bin/pg_ctl -D /data/db -o '-k /tmp -c listen_addresses=' -w start
    as $bin/createdb -h /tmp -U edgeloom edgeloom
    as $bin/pg_ctl -D /data/db -w stop
    exec setpriv --reuid=postgres --regid=postgres --init-groups $bin/postgres -D /data/db -k /tmp -c listen_addresses='*'`;
  return {
    services: {
      postgres: {
        image: containerBase.tag,
        entrypoint: ['sh', '-euc', postgres.replaceAll('$', '$$$$')],
        healthcheck: { test: ['CMD', 'pg_isready', '-h', '127.0.0.1', '-U', 'edgeloom', '-d', 'edgeloom'] },
      },
      setup: { ...built, image: `${project}-setup` },
      api: { ...built, image: `${project}-api` },
      edge: { ...built, image: `${project}-edge` },
      nats: { image: containerBase.tag, entrypoint: ['nats-server'] },
      origin: { image: containerBase.tag },
    },
    secrets: { postgres_password: { file: path.join(dir, 'password') } },
  };
}
