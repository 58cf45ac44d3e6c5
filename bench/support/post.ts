import { join } from 'node:path'

/** Makes wrk post BODY, with TOKEN if it is set. */
export const script = join(import.meta.dirname, 'post.lua')
