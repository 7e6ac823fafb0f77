declare module 'virtual:mantine.css';
declare module 'virtual:theme.css';
declare module '*.module.css' {
  const classes: Readonly<Record<string, string>>;
  // Vite gives a stylesheet's classes as the default export.
  export default classes;
}
