/** The start of links to this service. Never taken from the Host header, which the client chooses. */
import type { CoreConfig } from '../../config/config.ts'
import { configuredUrl } from '../../platform/http/bound-url.ts'

export interface Addresses {
  server: Pick<CoreConfig['server'], 'publicUrl' | 'host' | 'port'>
  isDevelopment: boolean
}

/** Empty in production without `server.public_url`; links are then paths. */
export function baseUrlOf({ server, isDevelopment }: Addresses): string {
  const { publicUrl, host, port } = server
  if (publicUrl !== undefined) return publicUrl
  if (!isDevelopment || port === 0) return ''
  return configuredUrl({ host, port })
}
