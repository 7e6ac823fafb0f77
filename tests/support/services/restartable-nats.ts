import { rm } from 'node:fs/promises';
import { onTestFinished } from 'vitest';
import { prepareNats } from '../../../deploy/services/nats.ts';
import { launch } from '../../../deploy/services/program.ts';
import { serverConfig } from './nats-trust.ts';
import { freePort } from './ports.ts';
import { services } from './shared-services.ts';
import { testDir } from './test-dir.ts';

/** A nats-server of this test alone, which can be stopped and started again on the same port. */
export async function restartableNats() {
  const dir = await testDir();
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const { secretsDir } = services();
  const nats = await prepareNats({
    dir,
    host: '127.0.0.1',
    port: await freePort(),
    config: (place) => serverConfig({ secretsDir, ...place, introduced: true }),
  });
  return {
    url: nats.url,
    async start() {
      const server = await launch(nats.program, { runDir: dir, logDir: dir });
      onTestFinished(() => server.stop());
      await nats.ready();
      return server;
    },
  };
}
