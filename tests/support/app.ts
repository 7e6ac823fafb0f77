// A real api on a database of the caller's own.
import { startApp, type TestApp } from './running-app.ts';
import { services, testDatabase } from './services.ts';

export type { TestApp } from './running-app.ts';

export const testApp = async (settings: Record<string, string> = {}): Promise<TestApp> =>
  startApp(services(), await testDatabase(), settings);
