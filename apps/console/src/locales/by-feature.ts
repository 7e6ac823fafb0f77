/** Language files by the name of their feature. Paths are those of `import.meta.glob`: `./zones.json?menu`. */
export const byFeature = (files: Readonly<Record<string, object>>): Record<string, object> =>
  Object.fromEntries(Object.entries(files).map(([path, words]) => [path.replace(/^\.\/|\.json.*$/g, ''), words]));
