import * as z from 'zod';
import { Id } from '../common/common.ts';
import { moduleFields, ModuleName } from '../modules/modules.ts';
import { MAX_SCRIPT_CHARACTERS } from './lexer.ts';
import { scriptError } from './parser.ts';

const Script = z
  .string()
  .max(MAX_SCRIPT_CHARACTERS)
  .superRefine((script, ctx) => {
    const error = scriptError(script);
    if (error) ctx.addIssue({ code: 'custom', message: error.message });
  })
  .describe('A subset of Lua: docs/acl.md');
/** `deny`: a request whose script was stopped gets 929. */
const ScriptLimitMode = z.enum(['deny', 'pass']);

const shape = {
  name: ModuleName,
  script: Script,
  limitMode: ScriptLimitMode.default('deny').describe('When the script fails or costs too much'),
  monitor: z.boolean().default(false).describe('Only logs what it would have done'),
};
export const LuaAclInput = z.object(shape);
export const LuaAclUpdate = z.object({ id: Id, ...shape });
export const LuaAclSettings = z.object({ script: z.string(), limitMode: ScriptLimitMode, monitor: z.boolean() });
export const LuaAcl = LuaAclSettings.extend(moduleFields);
export type LuaAclSettings = z.output<typeof LuaAclSettings>;
