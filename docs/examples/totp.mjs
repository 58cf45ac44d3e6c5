/** An authenticator app for the tour in README.md: the code of a secret, now or of the next thirty seconds. */
import { TOTP } from 'otpauth'

const [secret, when] = process.argv.slice(2)
const timestamp = Date.now() + (when === 'next' ? 30_000 : 0)
process.stdout.write(`${new TOTP({ secret }).generate({ timestamp })}\n`)
