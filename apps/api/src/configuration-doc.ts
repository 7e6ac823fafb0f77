// Writes docs/configuration.md from the schema of the environment. A test compares the two.
import { writeFile } from 'node:fs/promises';
import * as z from 'zod';
import { Env } from './core/env.ts';

export const file = new URL('../../../docs/configuration.md', import.meta.url);

const head = `# Configuration of the API

The API reads these variables once, when it starts, and does not start with an invalid one. An empty variable counts as not set. This page is
generated from \`apps/api/src/core/env.ts\` by \`node apps/api/src/configuration-doc.ts\`.

| variable | default | meaning |
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
