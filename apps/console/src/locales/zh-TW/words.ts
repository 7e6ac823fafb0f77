const files = import.meta.glob<object>('./{app,auth,common,errors}.json', { eager: true, import: 'default' });

/** Messages of the sign-in page, by feature. */
export const words = Object.fromEntries(Object.entries(files).map(([path, file]) => [path.slice(2, -5), file]));
