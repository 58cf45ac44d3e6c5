import type { CoreConfig } from '../../config/config.ts'
import { key, type ValuesOf } from '../../config/key.ts'
import { rateLimit } from '../../config/readers.ts'

export const apiKeyConfig = {
  auth: {
    rateLimit: { keys: key('auth.rate_limit.keys', rateLimit, { requests: 30, seconds: 60 }, 'RATE_LIMIT_KEYS') },
  },
}

export type ApiKeysConfig = CoreConfig & ValuesOf<typeof apiKeyConfig>
