import { expect, test } from 'vitest';
import { verbatim, CodedMessageOrNull } from './messages.ts';

test('an unknown code is read as null, so that the text is shown instead', () => {
  expect(CodedMessageOrNull.parse({ code: 'ofALaterVersion', node: null, values: {} })).toBeNull();
  expect(CodedMessageOrNull.parse(verbatim('no space left'))).toEqual(verbatim('no space left'));
  expect(CodedMessageOrNull.parse(null)).toBeNull();
});
