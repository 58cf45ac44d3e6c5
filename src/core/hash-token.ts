import { hash } from 'node:crypto'

/** How random tokens are stored and looked up. They have enough entropy for a plain hash; passwords do not. */
export function hashToken(token: string): string {
  return hash('sha256', token, 'base64url')
}
