import { onlyReads, type Endpoint } from '@edgeloom/contract/endpoint.ts';
import { fieldOf, isObject } from '../../lib/schema.ts';
import * as z from 'zod';

type Values = Readonly<Record<string, unknown>>;

/** Some searches send their query in the body, such as POST auditLogs. */
const asksByBody = (endpoint: Endpoint) => endpoint.method === 'POST' && onlyReads(endpoint);

/** Schema of the list's query. */
export const questionOf = (endpoint: Endpoint): z.ZodObject | undefined =>
  asksByBody(endpoint) && isObject(endpoint.body) ? endpoint.body : endpoint.query;

/** The request of a list. A URL needs single values as lists; a body does not. */
export function sentOf(endpoint: Endpoint, params: Readonly<Record<string, string>> | undefined, question: Values) {
  const path = params && { params };
  if (!asksByBody(endpoint)) return { ...path, ...(endpoint.query && { query: question }) };
  const body = Object.entries(question).map(([name, value]) => [name, isList(endpoint, name) ? value : oneOf(value)]);
  return { ...path, body: Object.fromEntries(body) };
}

const isList = (endpoint: Endpoint, name: string) => {
  const field = fieldOf(endpoint.body, name);
  return field instanceof z.ZodArray || (field instanceof z.ZodOptional && field.unwrap() instanceof z.ZodArray);
};
/** Regression: commas split a text in the URL. */
const oneOf = (value: unknown): unknown => (Array.isArray(value) ? value.join(',') : value);
