const files = import.meta.glob<object>('./*.json', { eager: true, import: 'default' });

/** All phrases of this language, by feature. */
export const words = Object.fromEntries(Object.entries(files).map(([path, file]) => [path.slice(2, -5), file]));
