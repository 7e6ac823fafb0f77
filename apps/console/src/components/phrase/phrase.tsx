import { Fragment } from 'react';
import { partsOf, useT, type Values, type Word } from '../../lib/i18n.ts';

interface PhraseProps {
  word: Word;
  values: Values;
  /** Element of the marked part, `<0>…</0>` in the locale files. */
  as?: 'b' | 'code';
  className?: string | undefined;
}

/** A translated text with a highlighted part. */
export function Phrase({ word, values, as: Mark = 'b', className }: PhraseProps) {
  useT();
  return partsOf(word, values).map(({ text, mark }, i) =>
    mark === null ? (
      <Fragment key={i}>{text}</Fragment>
    ) : (
      <Mark key={i} className={className}>
        {text}
      </Mark>
    ),
  );
}
