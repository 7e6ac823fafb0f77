// Starts the shared services of a test run.
import type { TestProject } from 'vitest/node';
import { generateClient } from '../../../prisma/generate.ts';
import { startServices } from './start-services.ts';

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await generateClient();
  const { stop, ...services } = await startServices();
  project.provide('services', services);
  return stop;
}
