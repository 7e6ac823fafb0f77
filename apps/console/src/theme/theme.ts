/**
 * The theme: names of dyes for hues, linen for light neutrals, ink for dark ones. Components use `tokens` (tokens.ts),
 * never hex values.
 */
import {
  createTheme,
  defaultVariantColorsResolver,
  type ActionIconFactory,
  type BadgeFactory,
  type ButtonFactory,
  type CardFactory,
  type CheckboxFactory,
  type DrawerFactory,
  type ExtendComponent,
  type FactoryPayload,
  type InputFactory,
  type InputWrapperFactory,
  type MantineColorsTuple,
  type MantineThemeComponent,
  type MenuFactory,
  type ModalFactory,
  type PopoverFactory,
  type SegmentedControlFactory,
  type SwitchFactory,
  type TableFactory,
  type TabsFactory,
  type TooltipFactory,
  type VariantColorsResolver,
} from '@mantine/core';
import { fonts } from './fonts.ts';

type Ramp = MantineColorsTuple;

const palette = {
  woad: [
    '#ebfafb',
    '#d6f4f5',
    '#b1e6e9',
    '#84d4d8',
    '#54bdc3',
    '#1ea2a8',
    '#00858b',
    '#006c72',
    '#005559',
    '#00393d',
  ] as Ramp,
  plum: [
    '#fff2ff',
    '#fde3fb',
    '#f6caf3',
    '#eaace7',
    '#d68cd4',
    '#bc6eba',
    '#9d519c',
    '#813d80',
    '#672e66',
    '#461e45',
  ] as Ramp,
  ochre: [
    '#fff5e8',
    '#fdead1',
    '#f6d5a9',
    '#e9bb7b',
    '#d79f4c',
    '#bd821a',
    '#9e6500',
    '#825000',
    '#673d00',
    '#472900',
  ] as Ramp,
  leaf: [
    '#ecfbf1',
    '#d9f5e2',
    '#b8e9c7',
    '#90d7a9',
    '#67c189',
    '#3fa66b',
    '#178950',
    '#006f3d',
    '#00572d',
    '#003b1e',
  ] as Ramp,
  madder: [
    '#fff0ec',
    '#ffe0da',
    '#ffc3b9',
    '#ffa094',
    '#ff7c70',
    '#e8594f',
    '#c73833',
    '#a52422',
    '#841717',
    '#5b100e',
  ] as Ramp,
  indigo: [
    '#f1f6ff',
    '#e2ecff',
    '#c8d8ff',
    '#aac0ff',
    '#8da4ff',
    '#7087ea',
    '#5669ca',
    '#4253a9',
    '#324087',
    '#212b5d',
  ] as Ramp,
  // Mantine reads `gray` in light and `dark` in dark mode; both are replaced so that no default grey appears.
  gray: [
    '#fcfcf9',
    '#f6f6f3',
    '#f1f0ed',
    '#e7e6e3',
    '#d8d7d4',
    '#a5a4a2',
    '#6d6c69',
    '#595856',
    '#3e3d3b',
    '#22221f',
  ] as Ramp,
  dark: [
    '#e1eaeb',
    '#cbd3d4',
    '#abb3b4',
    '#8c9495',
    '#4a5354',
    '#333c3d',
    '#262e2f',
    '#1c2324',
    '#151a1b',
    '#0f1314',
  ] as Ramp,
};

const height = { xs: 26, sm: 32, md: 38, lg: 44 } as const;
const text = { xs: 12, sm: 13, md: 14, lg: 15 } as const;
type Size = keyof typeof height;
const isSize = (size: unknown): size is Size => typeof size === 'string' && size in height;
const sized = (size: unknown): Size => (isSize(size) ? size : 'sm');

/**
 * `autoContrast` uses the light shade in both schemes (contrast 2.3 in dark mode), so filled colours define their own
 * text colour.
 */
const variantColorResolver: VariantColorsResolver = (input) => {
  const base = defaultVariantColorsResolver(input);
  const color = input.color ?? input.theme.primaryColor;
  if (input.variant === 'filled' && color === input.theme.primaryColor) {
    return {
      ...base,
      background: 'var(--el-accent)',
      hover: 'var(--el-accent-hover)',
      color: 'var(--el-text-on)',
      border: '1px solid transparent',
    };
  }
  if (input.variant === 'filled' && color === 'red') {
    return {
      ...base,
      background: 'var(--el-bad)',
      hover: 'var(--el-bad-text)',
      color: 'var(--el-text-on)',
      border: '1px solid transparent',
    };
  }
  if (input.variant === 'subtle' && color === 'red')
    return { ...base, hover: 'var(--el-bad-soft)', color: 'var(--el-bad-text)' };
  return base;
};

// Like a component's `.extend`, without importing the component: the sign-in page loads only what it shows.
const extend = <F extends FactoryPayload>(theme: ExtendComponent<F>): MantineThemeComponent => theme;

/** Description below the label of a checkbox or switch. */
const beside = { marginTop: 4, fontSize: 12, lineHeight: 1.4, color: 'var(--el-text-3)' };

// A dialog's <header> would count as a second banner landmark.
const dialogParts = { header: { role: 'presentation' } };

export const theme = createTheme({
  variantColorResolver,
  primaryColor: 'woad',
  primaryShade: { light: 7, dark: 4 },
  // Mantine's colour names are aliased, so that `color="red"` uses our palette.
  colors: {
    ...palette,
    red: palette.madder,
    pink: palette.madder,
    orange: palette.ochre,
    yellow: palette.ochre,
    lime: palette.leaf,
    green: palette.leaf,
    teal: palette.woad,
    cyan: palette.woad,
    blue: palette.woad,
    violet: palette.plum,
    grape: palette.plum,
  },
  fontFamily: fonts['zh-TW'],
  fontFamilyMonospace: fonts.mono,
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem', lg: '1rem', xl: '1.25rem' },
  lineHeights: { xs: '1.4', sm: '1.5', md: '1.55', lg: '1.5', xl: '1.35' },
  headings: {
    fontWeight: '600',
    sizes: {
      h1: { fontSize: '1.25rem', lineHeight: '1.35' },
      h2: { fontSize: '1rem', lineHeight: '1.4' },
      h3: { fontSize: '0.875rem', lineHeight: '1.45' },
      h4: { fontSize: '0.8125rem', lineHeight: '1.45' },
    },
  },
  radius: { xs: '3px', sm: '5px', md: '7px', lg: '10px', xl: '14px' },
  defaultRadius: 'sm',
  spacing: { xs: '0.375rem', sm: '0.5rem', md: '0.75rem', lg: '1.25rem', xl: '2rem' },
  breakpoints: { xs: '30em', sm: '48em', md: '64em', lg: '80em', xl: '100em' },
  focusRing: 'auto',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    Button: extend<ButtonFactory>({
      defaultProps: { size: 'sm' },
      vars: (_, props) => {
        const size = sized(props.size);
        return {
          root: {
            '--button-height': `${height[size]}px`,
            '--button-fz': `${text[size]}px`,
            '--button-padding-x': size === 'xs' ? '9px' : '12px',
          },
        };
      },
      styles: { root: { fontWeight: 500 }, section: { marginInlineEnd: 6 } },
    }),
    ActionIcon: extend<ActionIconFactory>({ defaultProps: { variant: 'subtle', color: 'gray', size: 28 } }),
    Input: extend<InputFactory>({
      vars: (_, props) => {
        const size = sized(props.size);
        return {
          wrapper: {
            '--input-height': `${height[size]}px`,
            '--input-fz': `${text[size]}px`,
            '--input-bg': 'var(--el-surface)',
            '--input-color': 'var(--el-text)',
            '--input-bd-focus': 'var(--el-focus)',
          },
        };
      },
    }),
    InputWrapper: extend<InputWrapperFactory>({
      // Hints are below the input, so that fields side by side align.
      defaultProps: { inputWrapperOrder: ['label', 'input', 'description', 'error'] },
      styles: {
        label: { fontSize: 13, fontWeight: 500, marginBottom: 4 },
        description: { fontSize: 12, color: 'var(--el-text-3)' },
        error: { fontSize: 12 },
      },
    }),
    Checkbox: extend<CheckboxFactory>({
      defaultProps: { size: 'xs', radius: 3 },
      vars: () => ({ root: { '--checkbox-icon-color': 'var(--el-text-on)' } }),
      styles: { label: { fontSize: 13, paddingInlineStart: 8 }, description: beside },
    }),
    // Switches use ink rather than the accent, so that they do not outshine status colours.
    Switch: extend<SwitchFactory>({
      defaultProps: { size: 'sm', withThumbIndicator: false, color: 'var(--el-switch)' },
      vars: (_, props) => ({
        root:
          props.size === 'xs'
            ? { '--switch-height': '16px', '--switch-width': '28px', '--switch-thumb-size': '10px' }
            : { '--switch-height': '18px', '--switch-width': '32px', '--switch-thumb-size': '12px' },
      }),
      styles: {
        thumb: { borderColor: 'transparent' },
        label: { fontSize: 13, paddingInlineStart: 8 },
        description: beside,
      },
    }),
    SegmentedControl: extend<SegmentedControlFactory>({
      defaultProps: { size: 'sm', radius: 'sm', withItemsBorders: false },
      vars: (_, props) => ({
        root: {
          '--sc-font-size': '12px',
          '--sc-padding': props.size === 'xs' ? '1px 8px' : '4px 10px',
          '--sc-label-color': 'var(--el-text)',
          '--sc-color': 'var(--el-pressed)',
        },
      }),
      styles: {
        root: { background: 'var(--el-hover)', padding: 2 },
        label: { fontWeight: 500 },
        indicator: { boxShadow: '0 0 0 1px var(--el-line)' },
      },
    }),
    Tabs: extend<TabsFactory>({
      styles: {
        tab: { padding: '9px 2px', marginInlineEnd: 20, fontSize: 13, fontWeight: 500 },
        list: { '--tab-border-color': 'transparent' },
      },
    }),
    Badge: extend<BadgeFactory>({
      defaultProps: { size: 'sm', radius: 3, variant: 'light' },
      styles: { root: { textTransform: 'none', fontWeight: 500, letterSpacing: 0 } },
    }),
    Card: extend<CardFactory>({ defaultProps: { withBorder: true, radius: 'md', padding: 'md' } }),
    Table: extend<TableFactory>({ defaultProps: { verticalSpacing: 0, horizontalSpacing: 'sm' } }),
    Tooltip: extend<TooltipFactory>({
      defaultProps: { openDelay: 250, withArrow: false, radius: 'sm' },
      styles: { tooltip: { fontSize: 12, padding: '4px 8px' } },
    }),
    // Mantine first focuses a placeholder, which may not be a child of a menu; focus the first item instead.
    Menu: extend<MenuFactory>({
      defaultProps: { radius: 'md', shadow: 'none', withInitialFocusPlaceholder: false, returnFocus: true },
      styles: {
        dropdown: {
          borderColor: 'var(--el-line)',
          background: 'var(--el-raised)',
          boxShadow: 'var(--el-shadow)',
          padding: 4,
        },
        item: { fontSize: 13, padding: '6px 8px' },
      },
    }),
    Popover: extend<PopoverFactory>({
      defaultProps: { radius: 'md', shadow: 'none', returnFocus: true },
      styles: {
        dropdown: { borderColor: 'var(--el-line)', background: 'var(--el-raised)', boxShadow: 'var(--el-shadow)' },
      },
    }),
    // Scroll locking injects a <style>, which the CSP blocks. The page behind does not scroll anyway.
    Modal: extend<ModalFactory>({
      defaultProps: {
        radius: 'lg',
        padding: 16,
        lockScroll: false,
        attributes: dialogParts,
        overlayProps: { backgroundOpacity: 0.32 },
        transitionProps: { duration: 140, transition: 'fade' },
      },
      styles: { title: { fontWeight: 600, fontSize: 15 } },
    }),
    Drawer: extend<DrawerFactory>({
      defaultProps: {
        position: 'right',
        lockScroll: false,
        attributes: dialogParts,
        overlayProps: { backgroundOpacity: 0.2 },
        transitionProps: { duration: 160 },
      },
    }),
  },
});
