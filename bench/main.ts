/** Runs all benchmarks, or those named as arguments. Exits with 1 if one misses its target. */

import { auditOrders } from './audit-orders.ts'
import { changeLogAtScale } from './change-log-at-scale.ts'
import { changeLogCost } from './change-log-cost.ts'
import { changeReaders } from './change-readers.ts'
import { collections } from './collections.ts'
import { compare, usage } from './compare.ts'
import { durableWrites } from './durable-writes.ts'
import { fanOut } from './fan-out.ts'
import { graphqlPosts } from './graphql-posts.ts'
import { hostile } from './hostile/hostile.ts'
import { loginStorm } from './login-storm.ts'
import { loginTiming } from './login-timing.ts'
import { memory } from './memory.ts'
import { permissionCheck } from './permission-check.ts'
import { postgresById } from './postgres-by-id.ts'
import { productCreates } from './product-creates.ts'
import { productOrders } from './product-orders.ts'
import { productsAtScale } from './products-at-scale.ts'
import { productsById } from './products-by-id.ts'
import { productsOnPostgres } from './products-on-postgres.ts'
import { rivals } from './rivals.ts'
import { rowByKey } from './row-by-key.ts'
import { start } from './start.ts'
import type { Benchmark } from './support/benchmark.ts'
import { printResult, printTitle } from './support/benchmark.ts'
import { UsageError } from './support/versions.ts'
import { threads } from './threads.ts'
import { userOrders } from './user-orders.ts'

const benchmarks: Record<string, Benchmark> = {
  start,
  'durable-writes': durableWrites,
  'row-by-key': rowByKey,
  'products-by-id': productsById,
  rivals,
  'products-at-scale': productsAtScale,
  'product-orders': productOrders,
  'audit-orders': auditOrders,
  'user-orders': userOrders,
  collections,
  'products-on-postgres': productsOnPostgres,
  'postgres-by-id': postgresById,
  threads,
  memory,
  'product-creates': productCreates,
  'graphql-posts': graphqlPosts,
  'login-timing': loginTiming,
  'login-storm': loginStorm,
  'permission-check': permissionCheck,
  'fan-out': fanOut,
  'change-readers': changeReaders,
  'change-log-at-scale': changeLogAtScale,
  'change-log-cost': changeLogCost,
  hostile,
}

const wrongUsage = 64
const asked = process.argv.slice(2)
const names = Object.keys(benchmarks).join(', ')

if (asked.includes('--help') || asked.includes('-h')) {
  process.stdout.write(`npm run bench [name …]\n\nMeasures all of these, or those named: ${names}.\n\n${usage}`)
  process.exit(0)
}

if (asked[0] === 'compare') {
  process.exit(
    await compare(asked.slice(1)).catch((error) => {
      if (!(error instanceof UsageError)) throw error
      process.stderr.write(`${error.message}\n`)
      return wrongUsage
    }),
  )
}

const unknown = asked.filter((name) => !Object.hasOwn(benchmarks, name))
if (unknown.length > 0) {
  process.stderr.write(`unknown: ${unknown.join(', ')}; there are: ${names}, and compare\n`)
  process.exit(wrongUsage)
}

let missed = 0
for (const [name, benchmark] of Object.entries(benchmarks)) {
  if (asked.length > 0 && !asked.includes(name)) continue
  printTitle(name)
  for (const result of await benchmark()) {
    printResult(result)
    if (!result.isMet) missed += 1
  }
}
process.exit(missed > 0 ? 1 : 0)
