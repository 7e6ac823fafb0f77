// The version of the console's package. The build keeps this one field.
export { version } from '../../package.json';
