// Writes openapi.json from the contract, without a server or database.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { groups } from '@edgeloom/contract/all.ts';
import { openapi } from './http/openapi.ts';

const file = path.resolve(process.argv[2] ?? 'openapi.json');
const document = openapi(groups);
await writeFile(file, `${JSON.stringify(document, null, 2)}\n`);
const calls = Object.values(document.paths).reduce((sum, methods) => sum + Object.keys(methods).length, 0);
console.log(`${file}: ${calls} calls, ${Object.keys(document.components.schemas).length} schemas`);
