import { useT, type T } from '../../lib/i18n.ts';
import { plain, resolved, type JsonSchema, type Schemas } from './document.ts';
import classes from './api-doc.module.css';

const DEEPEST = 6;

interface Named {
  name: string;
  required: boolean;
  schema: JsonSchema;
  description?: string | undefined;
}

/** The fields of a body or response. */
export function SchemaView({ schema, schemas }: { schema: JsonSchema; schemas: Schemas }) {
  const top = resolved(schema, schemas);
  const inside = fieldsOf(top, schemas);
  return inside.length > 0 ? (
    <FieldList fields={inside} schemas={schemas} />
  ) : (
    <FieldList fields={[{ name: '', required: true, schema: top }]} schemas={schemas} />
  );
}

export function FieldList({
  fields,
  schemas,
  depth = 0,
}: {
  fields: readonly Named[];
  schemas: Schemas;
  depth?: number;
}) {
  return (
    <ul className={classes['fields']}>
      {fields.map((field) => (
        <Field key={field.name} {...field} schemas={schemas} depth={depth} />
      ))}
    </ul>
  );
}

function Field({
  name,
  required,
  schema: given,
  description,
  schemas,
  depth,
}: Named & { schemas: Schemas; depth: number }) {
  const t = useT();
  const { schema, nullable } = plain(given, schemas);
  const inside = depth < DEEPEST ? fieldsOf(schema, schemas) : [];
  const choices = choicesOf(schema, schemas);
  const text = description ?? given.description ?? schema.description;
  return (
    <li className={classes['field']}>
      <div className={classes['fieldHead']}>
        {name !== '' && <code className={classes['fieldName']}>{name}</code>}
        <span className={classes['fieldType']}>
          {typeOf(schema, schemas, t)}
          {nullable && ` ${t('apiDoc.orNull')}`}
        </span>
        {name !== '' && required && <span className={classes['required']}>{t('apiDoc.required')}</span>}
        {limitsOf(schema, t).map((limit) => (
          <span key={limit} className={classes['limit']}>
            {limit}
          </span>
        ))}
        {schema.default !== undefined && (
          <span className={classes['limit']}>
            {t('apiDoc.default')} <code>{JSON.stringify(schema.default)}</code>
          </span>
        )}
      </div>
      {text && <p className={classes['fieldText']}>{text}</p>}
      {choices.length > 0 && (
        <p className={classes['choices']}>
          {choices.map((choice) => (
            <code key={choice}>{choice}</code>
          ))}
        </p>
      )}
      {inside.length > 0 && <FieldList fields={inside} schemas={schemas} depth={depth + 1} />}
    </li>
  );
}

/** Fields of an object, of a list's objects, or of a record's values. */
function fieldsOf(given: JsonSchema, schemas: Schemas): Named[] {
  const { schema } = plain(given, schemas);
  if (schema.properties) {
    const { required = [] } = schema;
    return Object.entries(schema.properties).map(([name, field]) => ({
      name,
      required: required.includes(name),
      schema: field,
    }));
  }
  if (schema.items) return fieldsOf(schema.items, schemas);
  if (typeof schema.additionalProperties === 'object') return fieldsOf(schema.additionalProperties, schemas);
  const parts = schema.allOf ?? [];
  return parts.flatMap((part) => fieldsOf(part, schemas));
}

function choicesOf(given: JsonSchema, schemas: Schemas): string[] {
  const schema = resolved(given, schemas);
  if (schema.enum) return schema.enum.map(String);
  if (schema.const !== undefined) return [String(schema.const)];
  if (schema.items) return choicesOf(schema.items, schemas);
  return (schema.anyOf ?? schema.oneOf ?? []).flatMap((part) => choicesOf(part, schemas));
}

const known = ['string', 'integer', 'number', 'boolean', 'object', 'null'] as const;

function typeOf(given: JsonSchema, schemas: Schemas, t: T): string {
  const { schema } = plain(given, schemas);
  if (schema.items) return t('apiDoc.types.arrayOf', { type: typeOf(schema.items, schemas, t) });
  const parts = schema.anyOf ?? schema.oneOf;
  if (parts) return [...new Set(parts.map((part) => typeOf(part, schemas, t)))].join(t('apiDoc.or'));
  const type = [schema.type].flat()[0];
  const name = known.find((one) => one === type);
  if (schema.format) return schema.format;
  return name ? t(`apiDoc.types.${name}`) : t('apiDoc.types.any');
}

function limitsOf(schema: JsonSchema, t: T): string[] {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, pattern, format } = schema;
  const range = (low: number | undefined, high: number | undefined) => {
    const most = high === undefined || high >= Number.MAX_SAFE_INTEGER ? undefined : high;
    const least = low === undefined || low <= Number.MIN_SAFE_INTEGER ? undefined : low;
    if (least === undefined && most === undefined) return null;
    if (most === undefined) return `≥ ${least}`;
    return least === undefined ? `≤ ${most}` : `${least} – ${most}`;
  };
  const [value, length, items] = [range(minimum, maximum), range(minLength, maxLength), range(minItems, maxItems)];
  return [
    ...(value === null ? [] : [value]),
    ...(length === null ? [] : [t('apiDoc.length', { range: length })]),
    ...(items === null ? [] : [t('apiDoc.items', { range: items })]),
    ...(pattern && !format ? [t('apiDoc.pattern', { pattern })] : []),
  ];
}
