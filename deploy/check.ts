// pnpm check: the checks to run before a review, two at a time.
import { generateClient } from '../prisma/generate.ts';
import { pureTests, runCheck, staticChecks } from './checks.ts';
import type { Check } from './checks.ts';
import { line, step } from './steps.mjs';

const failures: string[] = [];

async function lane(queue: Check[]) {
  for (let check = queue.shift(); check !== undefined; check = queue.shift()) {
    const { name } = check;
    try {
      await step(name, async () => {
        const { passed, output } = await runCheck(check);
        if (!passed) throw new Error(output.trim());
      });
    } catch (error) {
      failures.push(`--- ${name}\n${error instanceof Error ? error.message : String(error)}`);
    }
  }
}

await generateClient();
const queue = [...staticChecks, pureTests];
await Promise.all([lane(queue), lane(queue)]);
for (const failure of failures) line(`\n${failure}`);
process.exitCode = failures.length === 0 ? 0 : 1;
