import { expect, test } from 'vitest';
import { words, write } from './letters.ts';

test('what a stranger named is text in a mail: no markup, no line of its own', () => {
  const device = '<img src=x onerror=alert(1)>"\'&\r\nBcc: everybody@example.com';
  const { html, text } = write('a@example.com', 'en', 'newDevice', { device, address: '192.0.2.1', at: 'now' });
  expect(html).not.toContain('<img');
  expect(html).toContain('&#60;img src=x onerror=alert(1)&#62;&#34;&#39;&#38;');
  expect(text.split('\n').filter((line) => line.startsWith('Bcc'))).toEqual([]);
});

test('a value is put in as it is, whatever it looks like', () => {
  const { text } = write('a@example.com', 'en', 'passkeyAdded', { name: '{address} $& $1', address: '192.0.2.1' });
  expect(text).toContain('The passkey {address} $& $1 was added from 192.0.2.1.');
});

test('each language has every letter, with the same values in it; another language is written in English', () => {
  const shape = (language: keyof typeof words) =>
    Object.entries(words[language]).map(([name, { lines, button }]) => [
      name,
      [...lines.join('').matchAll(/\{\w+\}/g)].map(String).toSorted(),
      button !== undefined,
    ]);
  expect(shape('zh-TW')).toEqual(shape('en'));
  expect(shape('zh-CN')).toEqual(shape('en'));
  expect(write('a@example.com', 'fr', 'code', { code: '123456' }).subject).toBe(words.en.code.subject);
});

test('a link is a button and is written out', () => {
  const link = 'https://console.example.com/user/verifyMail?token=abc';
  const { html, text } = write('a@example.com', 'zh-TW', 'reset', { link });
  expect(html).toContain(`href="${link}"`);
  expect(text).toContain(link);
});
