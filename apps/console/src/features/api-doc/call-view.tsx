import { useLanguage, useT } from '../../lib/i18n.ts';
import { explainCode } from '../../lib/errors.ts';
import { useCan } from '../../lib/use-can.ts';
import { permissions } from '@edgeloom/contract/permissions.ts';
import { Copy } from '../../components/values/copy.tsx';
import { CodeBlock, CurlBox } from './curl-box.tsx';
import { exampleOf, resolved, type Call, type JsonSchema, type Schemas } from './document.ts';
import { nameOf, titleOf } from './names.ts';
import { FieldList, SchemaView } from './schema-view.tsx';
import classes from './api-doc.module.css';

const places = ['path', 'query', 'header'] as const;

/** One call: description, permission, input, response, errors. */
export function CallView({ call, schemas }: { call: Call; schemas: Schemas }) {
  const t = useT();
  useLanguage();
  const { method, path, parameters, requestBody, responses } = call;
  const body = Object.entries(requestBody?.content ?? {})[0];
  const answers = Object.entries(responses).filter(([status]) => Number(status) < 400);
  const refusals = Object.entries(responses).filter(([status]) => Number(status) >= 400);
  return (
    <article className={classes['call']} aria-labelledby="call-title">
      <h2 id="call-title" tabIndex={-1} className={classes['callTitle']}>
        {titleOf(call.feature)} · {nameOf(call)}
      </h2>
      <p className={classes['line']}>
        <span className={classes['method']} data-method={method}>
          {method}
        </span>
        <code className={classes['path']}>
          <Copy text={`/api/v1${path}`} />
        </code>
      </p>
      <Permission permission={call['x-permission']} />
      {call['x-own'] && <p className={classes['quiet']}>{t('apiDoc.needs.own')}</p>}

      {places.map((place) => {
        const fields = parameters.filter((parameter) => parameter.in === place);
        if (fields.length === 0) return null;
        return (
          <section key={place} className={classes['part']}>
            <h3>{t(`apiDoc.parts.${place}`)}</h3>
            <FieldList
              fields={fields.map(({ name, required = false, schema = {}, description }) => ({
                name,
                required,
                schema,
                description,
              }))}
              schemas={schemas}
            />
          </section>
        );
      })}
      {body && (
        <section className={classes['part']}>
          <h3>
            {t('apiDoc.parts.body')} <span className={classes['quiet']}>{body[0]}</span>
          </h3>
          <SchemaView schema={body[1].schema ?? {}} schemas={schemas} />
          <Example schema={body[1].schema} schemas={schemas} />
        </section>
      )}
      {answers.map(([status, { headers, content = {} }]) => (
        <section key={status} className={classes['part']}>
          <h3>
            {t('apiDoc.parts.answer')}{' '}
            <span className={classes['quiet']}>{[status, ...Object.keys(content)].join(' · ')}</span>
          </h3>
          {Object.entries(content).map(([type, { schema }]) => (
            <div key={type}>
              <SchemaView schema={schema ?? {}} schemas={schemas} />
              {type === 'application/json' && <Example schema={schema} schemas={schemas} />}
            </div>
          ))}
          {Object.keys(content).length === 0 && <p className={classes['quiet']}>{t('apiDoc.empty')}</p>}
          {Object.keys(headers).length > 0 && (
            <>
              <h4>{t('apiDoc.parts.header')}</h4>
              <FieldList
                fields={Object.entries(headers).map(([name, { description, schema = {} }]) => ({
                  name,
                  required: false,
                  schema,
                  description,
                }))}
                schemas={schemas}
              />
            </>
          )}
        </section>
      ))}
      <section className={classes['part']}>
        <h3>{t('apiDoc.parts.failures')}</h3>
        <ul className={classes['fields']}>
          {refusals.flatMap(([status, { 'x-codes': codes }]) =>
            codes.map((code) => (
              <li key={`${status} ${code}`} className={classes['failure']}>
                <span className={classes['limit']}>{status}</span> <code>{code}</code> {explainCode(code)}
              </li>
            )),
          )}
          <li className={classes['failure']}>
            <a href="#errors">{t('apiDoc.alsoAny')}</a>
          </li>
        </ul>
      </section>
      <section className={classes['part']}>
        <h3>curl</h3>
        <CurlBox key={call.operationId} call={call} schemas={schemas} />
      </section>
    </article>
  );
}

function Permission({ permission }: { permission: string }) {
  const t = useT();
  const can = useCan();
  if (permission === 'anyone' || permission === 'signedIn')
    return <p className={classes['quiet']}>{t(`apiDoc.needs.${permission}`)}</p>;
  return (
    <p className={classes['quiet']}>
      {t('apiDoc.needs.permission')} <code>{permission}</code>
      {!isHeld(permission, can) && ` ${t('apiDoc.needs.lacking')}`}
    </p>
  );
}
const isHeld = (permission: string, can: ReturnType<typeof useCan>) => {
  const known = permissions.find((one) => one === permission);
  return known === undefined || can({ can: known });
};

function Example({ schema, schemas }: { schema: JsonSchema | undefined; schemas: Schemas }) {
  const t = useT();
  if (!schema || Object.keys(resolved(schema, schemas)).length === 0) return null;
  return (
    <details className={classes['example']}>
      <summary>{t('apiDoc.example')}</summary>
      <CodeBlock label={t('apiDoc.example')} text={JSON.stringify(exampleOf(schema, schemas), null, 2)} />
    </details>
  );
}
