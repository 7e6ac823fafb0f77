// Writes docs/configuration.md from the schema of the environment. A test compares the two.
import { writeFile } from 'node:fs/promises';
import * as z from 'zod';
import { Env } from './core/env.ts';

export const file = new URL('../../../docs/configuration.md', import.meta.url);

const head = `# Configuration of the API

The API reads these variables once, at its start, and refuses to start when one of them cannot be used. A variable that
is set to nothing counts as not set. This page is made from \`apps/api/src/core/env.ts\` by \`node apps/api/src/configuration-doc.ts\`.

| variable | default | what it is |
|---|---|---|
`;

export const configurationDoc = () =>
  head +
  Object.entries<z.ZodType>(Env.shape)
    .map(([name, schema]) => `| \`${name}\` | ${defaultOf(schema)} | ${schema.description ?? ''} |\n`)
    .join('');

function defaultOf(schema: z.ZodType): string {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) {
    const value: unknown = schema.def.defaultValue;
    const isList = Array.isArray(value) && value.every((one) => typeof one === 'string');
    const text = isList ? value.join(',') : typeof value === 'object' ? JSON.stringify(value) : String(value);
    return text === '' ? 'none' : `\`${text}\``;
  }
  return schema instanceof z.ZodOptional ? 'not set' : '**required**';
}

if (import.meta.main) await writeFile(file, configurationDoc());
