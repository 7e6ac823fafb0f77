import { expect, test } from 'vitest';
import { ownWords, SayingOrNone } from './sayings.ts';

test('what a later version says is read as words alone, not as a fault of the whole', () => {
  expect(SayingOrNone.parse({ code: 'ofALaterVersion', node: null, values: {} })).toBeNull();
  expect(SayingOrNone.parse(ownWords('no space left'))).toEqual(ownWords('no space left'));
  expect(SayingOrNone.parse(null)).toBeNull();
});
