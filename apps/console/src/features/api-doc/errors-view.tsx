import { errors, type ErrorEntry } from '@edgeloom/contract/errors.ts';
import { explainCode, ruleText } from '../../lib/errors.ts';
import { useT } from '../../lib/i18n.ts';
import { CodeBlock } from './curl-box.tsx';
import classes from './api-doc.module.css';

const envelope = { isError: true, code: 101_003, message: 'Parameter Error', errorData: [], extra: {}, reqID: '…' };

/** The catalogue of all errors. */
export function ErrorsView() {
  const t = useT();
  const entries = Object.entries<ErrorEntry>(errors).toSorted(([, a], [, b]) => a.code - b.code);
  return (
    <article className={classes['call']} aria-labelledby="call-title">
      <h2 id="call-title" tabIndex={-1} className={classes['callTitle']}>
        {t('apiDoc.errors')}
      </h2>
      <p>{t('apiDoc.errorsWhy')}</p>
      <CodeBlock label={t('apiDoc.example')} text={JSON.stringify(envelope, null, 2)} />
      <ul className={classes['fields']}>
        {entries.map(([name, { code, status, message, rule }]) => (
          <li key={name} className={classes['failure']}>
            <span className={classes['limit']}>{status}</span> <code>{code}</code> {explainCode(code)}
            {rule && `${t('common.colon')}${ruleText(rule, '')}`}
            <div className={classes['quiet']}>
              {message}
              {rule && ` · ${rule}`}
            </div>
          </li>
        ))}
      </ul>
    </article>
  );
}
