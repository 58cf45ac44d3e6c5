/** The cost of a permission check, with few roles and with many. */

import { compileRoles } from '../src/features/users/roles.ts'
import { User } from '../src/features/users/user.ts'
import { authorize } from '../src/platform/access/authorize.ts'
import { createPolicies } from '../src/platform/access/policies.ts'
import type { Principal } from '../src/platform/access/route-guards.ts'
import { type Benchmark, median } from './support/benchmark.ts'

const limitMicroseconds = 2
const checks = 200_000

export const permissionCheck: Benchmark = async () => {
  const results = []
  for (const count of [10, 1000]) {
    const times: number[] = []
    for (let round = 0; round < 7; round++) times.push(await measure(count))
    const microseconds = median(times)
    results.push({
      claim: `a permission check with ${count} roles, microseconds (under ${limitMicroseconds})`,
      measured: `${microseconds.toFixed(3)}, median of ${times.length} rounds of ${checks.toLocaleString('en')} checks`,
      isMet: microseconds < limitMicroseconds,
    })
  }
  return results
}

/** Each role inherits the one before it; the user holds the last, and the permission is in the first. */
async function measure(count: number): Promise<number> {
  const definitions = Object.fromEntries(
    Array.from({ length: count }, (_, i) => [
      `role${i}`,
      { permissions: [`area${i}.things.*`, `area${i}.view`], inherits: i === 0 ? [] : [`role${i - 1}`] },
    ]),
  )
  const row = {
    id: 1,
    email: '',
    name: '',
    password_hash: '',
    token_version: 1,
    roles: JSON.stringify([`role${count - 1}`]),
  }
  const user = new User(row, compileRoles(definitions)) as unknown as Principal
  const policies = createPolicies({})
  const questions = ['area0.things.update', 'area0.view', 'nothing.at.all'].map((permission) => ({
    requirements: [{ permission }],
    isChange: false,
    user,
    findEntity: async () => undefined,
    policies,
  }))
  const start = performance.now()
  let allowed = 0
  for (let i = 0; i < checks; i++) {
    const { verdict } = await authorize(questions[i % questions.length] as (typeof questions)[number])
    if (verdict === 'allowed') allowed += 1
  }
  if (allowed === 0 || allowed === checks) throw new Error('the checks allowed everything or nothing')
  return ((performance.now() - start) * 1000) / checks
}
