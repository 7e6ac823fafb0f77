// `x.calls.ts` stands for `x.endpoints.ts` of the contract without its schemas. Zod would be a third of the sign-in
// form's script, and only pages with a form or table need it. Types are those of the endpoints (tsconfig.json).
import { pathToFileURL } from 'node:url';
import type { Group } from '@edgeloom/contract/endpoint.ts';
import type { Plugin } from 'vite';

const suffix = '?calls';

export function calls(): Plugin {
  return {
    name: 'edgeloom-calls',
    enforce: 'pre',
    async resolveId(source, importer) {
      if (!source.endsWith('.calls.ts')) return null;
      const found = await this.resolve(source.replace('.calls.ts', '.endpoints.ts'), importer);
      return found && found.id + suffix;
    },
    async load(id) {
      if (!id.endsWith(suffix)) return null;
      const groups: Record<string, Group> = await import(pathToFileURL(id.slice(0, -suffix.length)).href);
      // Restart the development server after declaring an endpoint.
      return Object.entries(groups)
        .map(([name, group]) => `export const ${name} = ${JSON.stringify(withoutSchemas(group))};`)
        .join('\n');
    },
  };
}

export const withoutSchemas = (group: Group) =>
  Object.fromEntries(
    Object.entries(group).map(([name, { params: _params, query: _query, body: _body, reply: _reply, ...call }]) => [
      name,
      call,
    ]),
  );
