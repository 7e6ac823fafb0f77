// pnpm check: the checks to run before a review, two at a time.
import { generateClient } from '../prisma/generate.ts';
import { eachCheck, pureTests, runCheck, staticChecks } from './checks.ts';
import { line, step } from './steps.mjs';

const failures: string[] = [];

await generateClient();
await eachCheck([...staticChecks, pureTests], async (check) => {
  const { name } = check;
  try {
    await step(name, async () => {
      const { passed, output } = await runCheck(check);
      if (!passed) throw new Error(output.trim());
    });
  } catch (error) {
    failures.push(`--- ${name}\n${error instanceof Error ? error.message : String(error)}`);
  }
});
for (const failure of failures) line(`\n${failure}`);
process.exitCode = failures.length === 0 ? 0 : 1;
