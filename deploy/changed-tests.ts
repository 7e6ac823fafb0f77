// npm test -- --changed REF: only the tests of what changed since REF, a commit or a branch.
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Files that no test imports, because programs read them, and the modules with which tests start these programs. */
const starters: [changed: RegExp, modules: string[]][] = [
  [/^agent\/(?!.*\.test\.ts$)/, ['agent.ts', 'edge.ts', 'waf-engine.ts']],
  [/^apps\/api\/(?!.*\.test\.ts$)/, ['api-bundle.ts']],
  [/^apps\/console\/(?!.*\.test\.ts$)/, ['browser.ts', 'consoles.ts']],
  [/^deploy\/(quickstart|services)\//, ['browser.ts', 'start-services.ts']],
  [/^prisma\//, ['start-services.ts', 'shared-services.ts']],
];

/** Files changed since `ref`, committed or not, and the modules that start programs of which they are a part. */
export async function changedSources(root: string, ref: string): Promise<string[]> {
  const git = async (...args: string[]) => (await run('git', args, { cwd: root })).stdout.split('\n').filter(Boolean);
  const [tracked, untracked] = await Promise.all([
    git('diff', '--name-only', '--relative', ref, '--'),
    git('ls-files', '--others', '--exclude-standard'),
  ]);
  const changed = [...tracked, ...untracked];
  const modules = starters
    .filter(([pattern]) => changed.some((file) => pattern.test(file)))
    .flatMap(([, names]) => names.map((name) => path.join('tests/support/services', name)));
  return [...new Set([...changed, ...modules])];
}
