import { join } from 'node:path'

/** The project's folder. Relative paths in the configuration start here, whatever the working directory. */
export const root = join(import.meta.dirname, '..', '..')
