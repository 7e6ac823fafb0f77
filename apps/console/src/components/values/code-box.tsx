import { CopyIcon } from './copy.tsx';
import classes from './values.module.css';

/** A text to copy: a command, token or request. `name` describes a long or secret text. */
export function CodeBox({ text, name }: { text: string; name?: string }) {
  return (
    <pre className={classes['code']}>
      {text}
      <span>
        <CopyIcon text={text} {...(name !== undefined && { name })} />
      </span>
    </pre>
  );
}
