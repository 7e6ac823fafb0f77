// The agent's command line.
import { parseArgs } from 'node:util';
import { startAgent } from './agent.ts';
import { readEnv } from './env.ts';
import type { Env } from './env.ts';
import { findWorkers } from './host.ts';
import { decode } from './images/decoder.ts';
import { serveImages } from './images/service.ts';
import { checkDocuments, planDocuments, renderInto } from './inspect.ts';
import { openLayout, prepareLayout } from './layout.ts';
import { join } from './link/join.ts';
import { lockDirectory } from './lock.ts';
import { reason, stderrLog } from './log.ts';
import { startMonitor } from './monitor/monitor.ts';
import { Home } from './upgrade/home.ts';
import { version } from './version.ts';

const usage = `usage: agent run [--with-nginx]   serve and follow the control plane; --with-nginx: nginx stops with the agent
       agent join                 become a node, or another one, with EDGELOOM_TOKEN
       agent plan [documents]     list what the documents on disk, or those of another folder, would change; changes nothing
       agent render <documents> <out>   write the nginx files for a folder of documents
       agent check [--running]    verify the documents on disk, and that nginx accepts them; --running: beside a running agent
       agent --version`;

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      'with-nginx': { type: 'boolean', default: false },
      running: { type: 'boolean', default: false },
      version: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  });
  if (values.version) return say(version);
  const [command, first, second] = positionals;
  // Processes that the agent starts. Both return when their work is over.
  if (command === 'decode') return runProcess(() => decode());
  if (command === 'images' && first !== undefined) return runProcess(() => serveImages(first));
  if (values.help || command === undefined) return say(usage, command === undefined && !values.help ? 2 : 0);
  const env = readEnv();
  if (command === 'run') return run(env, values['with-nginx']).catch((error: unknown) => giveUpTrial(env, error));
  if (command === 'join') return joinOnce(env);
  if (command === 'plan') return say((await planDocuments(env, first ?? null)).join('\n'));
  if (command === 'render' && first !== undefined && second !== undefined) {
    return say((await renderInto(env, first, second)).join('\n'));
  }
  if (command === 'check') {
    const { lines, ok } = await checkDocuments(env, values.running);
    return say(lines.join('\n'), ok ? 0 : 1);
  }
  return say(usage, 2);
}

async function run(env: Env, withNginx: boolean): Promise<number> {
  const stopRequested = new Promise<void>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve());
  });
  if (env.EDGELOOM_ROLE === 'monitor') {
    const monitor = await startMonitor(env, stderrLog);
    try {
      await Promise.race([stopRequested, monitor.refused]);
    } finally {
      await monitor.stop();
    }
    process.exit(0);
  }
  const agent = await startAgent(env, stderrLog);
  let isReplaced = false;
  try {
    await Promise.race([stopRequested, agent.refused, agent.replaced.then(() => (isReplaced = true))]);
  } finally {
    // The next release takes over the running nginx.
    await agent.stop({ nginx: withNginx && !isReplaced });
  }
  // Pending requests to origins or name servers would keep the process alive for minutes.
  process.exit(0);
}

/** A release on trial records the reason of its failure for the release that replaces it. */
async function giveUpTrial({ EDGELOOM_HOME: home, EDGELOOM_TRIAL: trial }: Env, error: unknown): Promise<never> {
  if (home !== undefined && trial !== undefined)
    await new Home(home).giveUp(`the agent exited: ${reason(error)}`).catch(() => undefined);
  throw error;
}

async function joinOnce(env: Env): Promise<number> {
  const { EDGELOOM_CONTROL: control, EDGELOOM_TOKEN: token } = env;
  if (control === undefined || token === undefined) throw new Error('EDGELOOM_CONTROL and EDGELOOM_TOKEN are needed');
  const layout = await openLayout(env.EDGELOOM_DIR);
  const unlock = await lockDirectory(layout.dir);
  await prepareLayout(layout, await findWorkers());
  const { nodeID, zoneID } = await join(layout, { control, token, version });
  unlock();
  return say(`joined as node ${nodeID} of zone ${zoneID}`);
}

async function runProcess(work: () => Promise<void> | void): Promise<number> {
  await work();
  return 0;
}

function say(text: string, code = 0): number {
  process.stdout.write(`${text}\n`);
  return code;
}

try {
  process.exitCode = await main();
} catch (error) {
  stderrLog.error(reason(error));
  // Exits at once, since started tasks would keep the process alive.
  process.exit(1);
}
