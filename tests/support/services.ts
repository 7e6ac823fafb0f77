// What a test file asks for: its own database, and where the shared services are.
import { inject } from 'vitest';
import { cloneDatabase } from './start-services.ts';
import type { Services } from './start-services.ts';

declare module 'vitest' {
  interface ProvidedContext {
    services: Services;
  }
}

export const services = (): Services => inject('services');

/** A migrated, empty database of the caller's own. Answers its DATABASE_URL; it goes away with the run. */
export const testDatabase = (): Promise<string> => cloneDatabase(services());
