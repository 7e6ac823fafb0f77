// Version of the console's package. The build keeps only this field.
export { version } from '../../package.json';
