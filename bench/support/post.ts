import { join } from 'node:path'

/** Makes wrk post BODY, as the user of TOKEN where there is one. */
export const script = join(import.meta.dirname, 'post.lua')
