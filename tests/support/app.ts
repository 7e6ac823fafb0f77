// Starts a real API on a database of its own.
import { startApp, type TestApp } from './running-app.ts';
import { services, testDatabase } from './services.ts';

export type { TestApp } from './running-app.ts';

export const testApp = async (settings: Record<string, string> = {}): Promise<TestApp> =>
  startApp(services(), await testDatabase(), settings);
