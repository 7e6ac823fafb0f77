import { cacheJobKinds } from '@edgeloom/contract/jobs/jobs.ts';
import { expect, test } from 'vitest';
import { cacheJobs } from './attention-places.ts';

test('the list of failed jobs has the counted kinds', () => expect(cacheJobs).toBe(`kind=${cacheJobKinds.join(',')}`));
