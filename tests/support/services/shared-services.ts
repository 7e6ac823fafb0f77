// Test databases and the addresses of the shared services.
import { inject } from 'vitest';
import { cloneDatabase } from './start-services.ts';
import type { Services } from './start-services.ts';

declare module 'vitest' {
  interface ProvidedContext {
    services: Services;
  }
}

export const services = (): Services => inject('services');

/** Returns the DATABASE_URL of an empty migrated database, which is deleted after the run. */
export const testDatabase = (): Promise<string> => cloneDatabase(services());
