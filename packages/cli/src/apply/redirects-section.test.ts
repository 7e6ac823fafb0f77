import { expect, test } from 'vitest';
import { CommandError } from '../command.ts';
import { assertAssignments } from './redirects-section.ts';

const plan = {
  known: [
    { id: 'one', domains: ['a.example', 'removed.example'] },
    { id: 'two', domains: ['b.example'] },
  ],
  assigned: ['c.example'],
  existing: ['a.example', 'b.example', 'c.example', 'd.example'],
};
const assignments = (modules: Record<string, string>) =>
  Object.entries(modules).map(([domainName, moduleID]) => ({ domainName, moduleID }));

test('modules of domains that are as the plan found them are overwritten', () => {
  expect(() => assertAssignments(plan, assignments({ 'a.example': 'one', 'b.example': 'two' }))).not.toThrow();
});

test('a module of a domain outside the plan changes nothing', () => {
  const latest = assignments({ 'a.example': 'one', 'b.example': 'two', 'd.example': 'new' });
  expect(() => assertAssignments(plan, latest)).not.toThrow();
});

test.each<[string, Record<string, string>]>([
  ['moved', { 'a.example': 'two', 'b.example': 'two' }],
  ['unassigned', { 'b.example': 'two' }],
  ['added to a module of the plan', { 'a.example': 'one', 'b.example': 'two', 'd.example': 'one' }],
  // Regression: modules that the plan did not know were not looked at.
  ['added to a module created after the plan', { 'a.example': 'one', 'b.example': 'two', 'c.example': 'new' }],
])('a domain that somebody has %s since the plan is not overwritten', (_, latest) => {
  expect(() => assertAssignments(plan, assignments(latest))).toThrow(CommandError);
});
