/** The version in package.json. */
export { VERSION } from '../../embedded/version.ts';
