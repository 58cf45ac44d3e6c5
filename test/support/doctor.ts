/** Findings of `latchkey doctor` for an environment. */
import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { examine } from '../../src/app/doctor/doctor.ts'
import type { Finding } from '../../src/app/doctor/finding.ts'
import { loadConfig } from '../../src/app/load-config.ts'
import { root } from '../../src/config/root.ts'

const random = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'

/** What production wants, apart from a database and a mail server. */
export const good = {
  NODE_ENV: 'production',
  JWT_SECRET: random,
  PUBLIC_URL: 'https://api.example.com',
  TRUSTED_PROXIES: 'loopback',
  REGISTRATION: 'closed',
  REFUSE_COMMON_PASSWORDS: 'true',
  CORS_ORIGINS: 'https://shop.example.com',
  METRICS_TOKEN: 'a long one for Prometheus',
  GQL_PUBSUB: 'in_memory',
  BACKUP_FOLDER: tmpdir(),
  BACKUP_EVERY: '24h',
}

export async function findingsOf(environment: Record<string, string>): Promise<Finding[]> {
  const config = loadConfig({ directory: join(root, 'config'), environment, forService: false })
  return examine({ config, extensions: [], startProblems: [] })
}

export async function findingOf(
  id: string,
  environment: Record<string, string>,
): Promise<[status: string, text: string]> {
  const found = (await findingsOf(environment)).find((each) => each.id === id)
  assert.ok(found, `there is no check ${id}`)
  return [found.status, found.text]
}
