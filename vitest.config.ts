import { defineConfig } from 'vitest/config';

const services = ['tests/support/global-setup.ts'];

export default defineConfig({
  test: {
    testTimeout: 90_000,
    hookTimeout: 120_000,
    // What is looked at again until it holds may take its time where everything runs at once.
    expect: { poll: { timeout: 20_000 } },
    // Two cores run a browser, databases and nginx beside the tests themselves.
    maxWorkers: '100%',
    projects: [
      project('unit', ['{packages,apps}/*/src/**/*.test.{ts,tsx}', '{agent/src,deploy,prisma}/**/*.test.ts']),
      project('contract', ['tests/contract/**/*.test.ts'], services),
      project('api', ['tests/api/**/*.test.ts'], services),
      project('edge', ['tests/edge/**/*.test.ts'], ['tests/support/leftovers-setup.ts']),
      project('flows', ['tests/flows/**/*.test.ts'], services),
      project('browser', ['tests/browser/**/*.test.ts'], services),
    ],
  },
});

function project(name: string, include: string[], globalSetup: string[] = []) {
  return { extends: true as const, test: { name, include, globalSetup } };
}
