import { join } from 'node:path'

/** The project's folder, from which relative paths of the configuration start, wherever the program was called. */
export const root = join(import.meta.dirname, '..', '..')
