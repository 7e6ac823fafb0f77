// Starts a real API with its own database.
import { startApp, type TestApp } from './running-app.ts';
import { services, testDatabase } from './shared-services.ts';

export type { TestApp } from './running-app.ts';

export const testApp = async (settings: Record<string, string> = {}): Promise<TestApp> =>
  startApp(services(), await testDatabase(), settings);
