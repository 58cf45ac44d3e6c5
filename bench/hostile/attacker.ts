/** Runs one attack in a separate process: `attacker.ts <name> <target as JSON>`. */
import { type Attack, attacks } from './attacks.ts'

const [name = '', target = '{}'] = process.argv.slice(2)
const attack: Attack | undefined = attacks[name as keyof typeof attacks]
if (!attack) throw new Error(`no attack is called ${name}`)
await attack(JSON.parse(target))
