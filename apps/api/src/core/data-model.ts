// Which model has which fields, and where its relations lead.
import * as z from 'zod';
import type { PrismaClient } from '../generated/client.ts';

// Prisma keeps this under a private name, so its shape is checked at start, not trusted.
const Field = z.object({ name: z.string(), kind: z.string(), type: z.string() });
const DataModel = z.object({ models: z.record(z.string(), z.object({ fields: z.array(Field) })) });

export function readDataModel(client: PrismaClient) {
  const { models } = DataModel.parse(Reflect.get(client, '_runtimeDataModel'));
  const fields = new Map(
    Object.entries(models).map(([model, { fields }]) => [model, new Map(fields.map((field) => [field.name, field]))]),
  );
  const isField = (model: string, name: string) => fields.get(model)?.has(name) ?? false;

  /** A relation `site` is kept in a column `siteId`. A list's name ends in s; what is neither is the far side of a pair. */
  const relation = (model: string, name: string) => {
    const field = fields.get(model)?.get(name);
    return field?.kind === 'object' ? { model: field.type, isList: name.endsWith('s') } : null;
  };
  const listsOf = (model: string) =>
    [...(fields.get(model)?.keys() ?? [])].filter((name) => relation(model, name)?.isList);

  return { models: Object.keys(models), isField, relation, listsOf };
}
