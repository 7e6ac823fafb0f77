import { expect, test } from 'vitest';
import { noTrainingGroup, RobotsInput, robotsText } from './robots.ts';

const group = { agents: ['*'], allow: ['/public/'], disallow: ['/*.pdf$'], crawlDelay: 5 };

test('groups and sitemaps are separated by empty lines', () => {
  const sitemaps = ['https://www.example.com/sitemap.xml'];
  expect(robotsText({ groups: [group, { ...noTrainingGroup, agents: ['GPTBot', 'CCBot'] }], sitemaps })).toBe(
    [
      'User-agent: *',
      'Allow: /public/',
      'Disallow: /*.pdf$',
      'Crawl-delay: 5',
      '',
      'User-agent: GPTBot',
      'User-agent: CCBot',
      'Disallow: /',
      '',
      'Sitemap: https://www.example.com/sitemap.xml',
      '',
    ].join('\n'),
  );
});

test('a group without paths allows all of them', () => {
  const text = robotsText({ groups: [{ ...group, allow: [], disallow: [], crawlDelay: null }], sitemaps: [] });
  expect(text).toBe('User-agent: *\nDisallow:\n');
});

test('a file without groups and sitemaps is empty', () => {
  expect(robotsText({ groups: [], sitemaps: [] })).toBe('');
});

const isAccepted = (over: object) => RobotsInput.safeParse({ groups: [{ agents: ['*'], ...over }] }).success;

test.each(['/a\nDisallow: /', '/a\rb', '/a\0', '/a#b', '/a b', '/a\u2028b', 'a', '', 'https://a.example/'])(
  'the path %j could add a line or match nothing, and is refused',
  (path) => {
    expect(isAccepted({ disallow: [path] })).toBe(false);
    expect(isAccepted({ allow: [path] })).toBe(false);
  },
);

test.each(['Bot\nDisallow: /', 'Bot#', 'Two words', '*bot', '', 'Bot\0'])('the crawler %j is refused', (agent) => {
  expect(isAccepted({ agents: [agent] })).toBe(false);
});

test.each(['https://a.example/\nDisallow: /', 'ftp://a.example/', '/sitemap.xml', 'https://a.example/#b'])(
  'the sitemap %j is refused',
  (url) => expect(RobotsInput.safeParse({ sitemaps: [url] }).success).toBe(false),
);

test('a file of more than 64 KiB is refused', () => {
  const paths = (count: number) => Array.from({ length: count }, (_, i) => `/${String(i).padStart(500, 'a')}`);
  expect(isAccepted({ disallow: paths(100) })).toBe(true);
  expect(isAccepted({ disallow: paths(200) })).toBe(false);
});
