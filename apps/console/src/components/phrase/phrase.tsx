import { Fragment } from 'react';
import { partsOf, useT, type Values, type Word } from '../../lib/i18n.ts';

interface PhraseProps {
  word: Word;
  values: Values;
  /** The element of a marked part, `<0>…</0>` in the language files. */
  as?: 'b' | 'code';
  className?: string | undefined;
}

/** A phrase of which a part stands out. */
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
