import { expect, test } from 'vitest';
import { afterSignIn } from './after-sign-in.ts';

const next = (text: string) => afterSignIn(new URLSearchParams({ next: text }));

test('one goes where one was going before the sign-in', () =>
  expect(next('/user/sitesManagement?page=2')).toBe('/user/sitesManagement?page=2'));

test.each([
  '',
  'https://evil.example/',
  '//evil.example/',
  '/client/dashboard',
  '/user/login',
  '/user/\\evil.example',
  'javascript:alert(1)',
])('never elsewhere: %s', (text) => expect(next(text)).toBe('/user/dashboard'));
