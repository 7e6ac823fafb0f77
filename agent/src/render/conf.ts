// The only way for a value into an nginx file. Every value is quoted. Values with `$` or control characters are
// refused:
// nginx has no escape for them.

/** nginx configuration text that is safe to insert unchanged. */
export class Conf {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export type ConfValue = string | number | Conf | Conf[] | false | null;

// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const unsafe = /[\u0000-\u001f\u007f$]/;

function quoted(value: string): string {
  if (unsafe.test(value)) throw new Error(`not allowed in an nginx file: ${JSON.stringify(value)}`);
  return `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

function shown(value: ConfValue): string {
  if (value === false || value === null) return '';
  if (value instanceof Conf) return value.text;
  if (Array.isArray(value)) return value.map((part) => part.text).join('');
  if (typeof value === 'string') return quoted(value);
  if (!Number.isSafeInteger(value)) throw new Error(`not a whole number: ${value}`);
  return String(value);
}

export function conf(parts: TemplateStringsArray, ...values: ConfValue[]): Conf {
  return new Conf(parts.reduce((text, part, i) => text + shown(values[i - 1] ?? null) + part));
}

/** A Lua string literal for a *_by_lua_block, whose text nginx does not unescape. */
export function luaText(value: string): Conf {
  const text = value.replaceAll(/[^ !#-[\]-~]/g, (char) =>
    [...Buffer.from(char)].map((byte) => `\\${String(byte).padStart(3, '0')}`).join(''),
  );
  return new Conf(`"${text}"`);
}
