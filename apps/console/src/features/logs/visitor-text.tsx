import { Fragment } from 'react';
import classes from './logs.module.css';

/** Characters without a shape, and those that change the order of others. */
const invisible = /([\p{Cc}\p{Zl}\p{Zp}\u00AD\u061C\u180E\u200B-\u200F\u202A-\u202E\u2060-\u206F\uFEFF])/u;
const codeOf = (char: string) => `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;

/** A text that a visitor sent. Invisible characters appear as their code, so they cannot disguise the text. */
export function VisitorText({ text }: { text: string }) {
  return (
    <bdi className={classes['visitorText']}>
      {invisible.test(text)
        ? text.split(invisible).map((part, i) =>
            invisible.test(part) ? (
              <span key={i} className={classes['code']}>
                {codeOf(part)}
              </span>
            ) : (
              <Fragment key={i}>{part}</Fragment>
            ),
          )
        : text}
    </bdi>
  );
}
