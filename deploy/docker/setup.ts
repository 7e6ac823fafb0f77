// Runs once before the other containers: secrets, nats-server configuration, migrations, demo. Idempotent.
import { chown, mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { initSecrets } from '@edgeloom/api/core/secrets-dir.ts';
import { serverConfig } from '@edgeloom/api/core/trust.ts';
import { deploy } from '../../prisma/migrate.ts';
import { addresses, ensureDemo, hideSummary, showSummary } from '../quickstart/demo.ts';
import { nameFolders } from '../quickstart/folders.ts';
import { ensureNodeArchive } from '../node-archive.ts';
import { readSettings, Settings } from '../quickstart/settings.ts';
import { ensureOwnRelease } from '../release.ts';
import * as z from 'zod';

const Env = z.object({
  DATABASE_URL: z.string(),
  DEMO: z.enum(['true', 'false']).default('true').describe('Make demo accounts, a site and a node'),
});
const { DATABASE_URL, DEMO } = Env.parse(process.env);

/**
 * Volumes: the API's secrets, nats-server's configuration, the node's join token, data for people, release archives.
 */
const [secrets, nats, join, data, releases] = ['/secrets', '/nats', '/join', '/data', '/releases'] as const;
const artifacts = '/artifacts';
/** The user "node" of the API's image. */
const apiUser = 1000;

for (const volume of [secrets, nats, join, data, releases]) await mkdir(volume, { recursive: true });
await initSecrets(secrets);
// The release key must not be readable by the API.
await ensureOwnRelease(releases, path.join(data, 'release-key'));
await ensureNodeArchive(artifacts);
await mkdir(path.join(nats, 'jwt'), { recursive: true });
const config = await serverConfig({ secretsDir: secrets, host: '0.0.0.0', port: 4222, jwtDir: '/nats/jwt' });
await writeFile(path.join(nats, 'nats.conf'), `${config}http: 0.0.0.0:8222\n`, { mode: 0o600 });
const applied = await deploy(DATABASE_URL);
console.log(applied.length === 0 ? 'No new migration.' : `Applied: ${applied.join(', ')}`);

if (DEMO === 'true') {
  const folders = { ...nameFolders(data), secrets };
  // Containers listen on the default ports; users connect to the ports that the compose file publishes.
  const settings = Settings.parse({ ORIGIN_NAME: 'origin' });
  const published = { ...addresses(readSettings()), origin: `http://origin:${settings.ORIGIN_PORT}` };
  await hideSummary(folders);
  const { summary, joinToken, isFirst } = await ensureDemo({ settings, published, folders, databaseUrl: DATABASE_URL });
  await writeFile(path.join(join, 'token'), joinToken, { mode: 0o600 });
  await showSummary(folders, summary);
  if (isFirst) console.log(JSON.stringify(summary, null, 2));
}

await chown(secrets, apiUser, apiUser);
for (const name of await readdir(secrets)) await chown(path.join(secrets, name), apiUser, apiUser);
