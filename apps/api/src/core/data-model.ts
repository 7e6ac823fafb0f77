// Models, their fields, and the targets of their relations.
import * as z from 'zod';
import type { PrismaClient } from '../generated/client.ts';

// A private structure of Prisma, so its shape is validated at start.
const Field = z.object({ name: z.string(), kind: z.string(), type: z.string() });
const DataModel = z.object({ models: z.record(z.string(), z.object({ fields: z.array(Field) })) });

export type DataModel = ReturnType<typeof readDataModel>;

export function readDataModel(client: PrismaClient) {
  const { models } = DataModel.parse(Reflect.get(client, '_runtimeDataModel'));
  const fields = new Map(
    Object.entries(models).map(([model, { fields }]) => [model, new Map(fields.map((field) => [field.name, field]))]),
  );
  const isField = (model: string, name: string) => fields.get(model)?.has(name) ?? false;

  /**
   * A relation `site` has a column `siteId`. Names of lists end in s. Others are the far side of a one-to-one relation.
   */
  const relation = (model: string, name: string) => {
    const field = fields.get(model)?.get(name);
    return field?.kind === 'object' ? { model: field.type, isList: name.endsWith('s') } : null;
  };
  const listsOf = (model: string) =>
    [...(fields.get(model)?.keys() ?? [])].filter((name) => relation(model, name)?.isList);

  return { models: Object.keys(models), isField, relation, listsOf };
}
