// npm test -- --changed REF: only the tests of what changed since REF, a commit or a branch.
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { createVitest } from 'vitest/node';
import { Trouble } from './steps.mjs';

const run = promisify(execFile);

/** Files that no test imports, because programs read them, and the modules with which tests start these programs. */
const starters: [changed: RegExp, modules: string[]][] = [
  [/^agent\/(?!.*\.test\.ts$)/, ['agent.ts', 'edge.ts', 'waf-engine.ts']],
  [/^apps\/api\/(?!.*\.test\.ts$)/, ['api-bundle.ts']],
  [/^apps\/console\/(?!.*\.test\.ts$)/, ['browser.ts', 'consoles.ts']],
  [/^deploy\/(quickstart|services)\//, ['browser.ts', 'start-services.ts']],
  [/^prisma\//, ['start-services.ts', 'shared-services.ts']],
];

/** Removes `--changed REF` from the arguments and returns REF, or null. */
export function takeChangedSince(args: string[]): string | null {
  const i = args.findIndex((argument) => argument === '--changed' || argument.startsWith('--changed='));
  if (i === -1) return null;
  const [option = ''] = args.splice(i, 1);
  const ref = option.includes('=') ? option.slice('--changed='.length) : args.splice(i, 1)[0];
  if (ref === undefined || ref === '' || ref.startsWith('-'))
    throw new Trouble('--changed needs a commit or a branch: npm test -- --changed HEAD');
  return ref;
}

/** The test files that `filters` select (all if empty) and that import what changed since `ref`, directly or not. */
export async function changedTests(root: string, ref: string, filters: readonly string[]): Promise<string[]> {
  const related = (await changedSources(root, ref)).map((file) => path.join(root, file));
  const vitest = await createVitest('test', { root, related, watch: false });
  try {
    const specifications = await vitest.getRelevantTestSpecifications([...filters]);
    return specifications.map(({ moduleId }) => path.relative(root, moduleId)).toSorted();
  } finally {
    await vitest.close();
  }
}

/** Files changed since `ref`, committed or not, and the modules that start programs of which they are a part. */
export async function changedSources(root: string, ref: string): Promise<string[]> {
  const git = async (...args: string[]) => (await run('git', args, { cwd: root })).stdout.split('\n').filter(Boolean);
  await git('rev-parse', '--verify', '--quiet', `${ref}^{commit}`).catch(() => {
    throw new Trouble(`--changed: git knows no commit or branch "${ref}"`);
  });
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
