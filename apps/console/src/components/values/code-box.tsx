import { CopyIcon } from './copy.tsx';
import classes from './values.module.css';

/** What is taken elsewhere as a whole: a command, a token, a request. `name` says what it is where it is long or secret. */
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
