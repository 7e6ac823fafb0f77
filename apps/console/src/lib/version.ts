// Of the console's package; the build keeps this one field.
export { version } from '../../package.json';
