// Mantine writes its variables into a <style> element at run time, which a strict content security policy refuses.
// They depend on the theme alone, so they are written at build time and served as a file like any other.
import {
  convertCssVariables,
  DEFAULT_THEME,
  deepMerge,
  defaultCssVariablesResolver,
  mergeMantineTheme,
} from '@mantine/core';
import type { Plugin } from 'vite';
import { fonts } from '../src/theme/fonts.ts';
import { theme } from '../src/theme/theme.ts';
import { cssVariablesResolver } from '../src/theme/tokens.ts';

const id = 'virtual:theme.css';
/** In place of Mantine's own writer of variables. */
const unused = 'virtual:no-variables.js';

export function themeCss(): Plugin {
  return {
    name: 'edgeloom-theme-css',
    enforce: 'pre',
    resolveId: (source) =>
      source === id ? `\0${id}` : source.endsWith('/MantineCssVariables.mjs') ? `\0${unused}` : null,
    load(source) {
      if (source === `\0${unused}`) return 'export const MantineCssVariables = () => null;';
      return source === `\0${id}` ? renderThemeCss() : null;
    },
  };
}

export function renderThemeCss() {
  const merged = mergeMantineTheme(DEFAULT_THEME, theme);
  const variables = deepMerge(defaultCssVariablesResolver(merged), cssVariablesResolver(merged));
  const languages = (['zh-TW', 'zh-CN', 'en'] as const).map(
    (language) =>
      `:root:lang(${language}){--mantine-font-family:${fonts[language]};--mantine-font-family-headings:${fonts[language]}}`,
  );
  return [
    convertCssVariables(variables, ':root'),
    ':root[data-mantine-color-scheme="light"]{--mantine-color-scheme:light}',
    ':root[data-mantine-color-scheme="dark"]{--mantine-color-scheme:dark}',
    ...languages,
  ].join('\n');
}
