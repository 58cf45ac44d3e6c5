import type { Config } from '../config/config.ts'
import type { Expiring } from '../platform/database/cleanup.ts'

/** What the background clean-up looks after. */
export const expiringTables = ({ audit }: Pick<Config, 'audit'>): Expiring[] => [
  { table: 'sessions', key: 'id' },
  { table: 'revoked_tokens', key: 'id' },
  { table: 'web_sessions', key: 'id_hash' },
  { table: 'used_once', key: 'id' },
  { table: 'login_attempts', key: 'email' },
  { table: 'password_resets', key: 'token_hash' },
  { table: 'idempotency_keys', key: 'id' },
  ...(audit.retentionDays > 0 ? [{ table: 'audit', key: 'id', keptSeconds: audit.retentionDays * 86_400 }] : []),
]
