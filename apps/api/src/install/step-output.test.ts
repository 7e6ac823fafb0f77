import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { StepOutput } from './step-output.ts';

// Regression: the last flush of a step found nothing to store and the step ended, while an earlier flush still waited
// for the database. Its lines were lost, or stored after later ones.
test('a flush ends after the earlier ones, and stores later lines after theirs', async () => {
  const output = new StepOutput();
  const database = Promise.withResolvers<void>();
  const events: string[] = [];
  const storeLate = async (text: string) => {
    await database.promise;
    events.push(text);
  };
  const store = async (text: string) => void events.push(text);
  output.add('first');
  const first = output.flush(storeLate);
  await setImmediate();
  output.add('second');
  const second = output.flush(store);
  const last = output.flush(store).then(() => events.push('ended'));
  await setImmediate();
  database.resolve();
  await Promise.all([first, second, last]);
  expect(events).toEqual(['first\n', 'second\n', 'ended']);
});

test('the lines of a failed flush are stored by the next one', async () => {
  const output = new StepOutput();
  output.add('first');
  await expect(output.flush(() => Promise.reject(new Error('no connection')))).rejects.toThrow('no connection');
  output.add('second');
  const stored: string[] = [];
  await output.flush(async (text) => void stored.push(text));
  expect(stored).toEqual(['first\nsecond\n']);
});
