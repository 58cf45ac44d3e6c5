/**
 * Compares the engine with plain graphql-js: `main.ts FIRST COUNT`, or `main.ts FIRST 0 SECONDS` for a duration. Runs
 * as a separate process, because graphql-js leaves unhandled rejections. Prints the counterexample.
 */
import { compareSeed, phase, type Tally } from './compare.ts'

const [first = 1, count = 100, seconds = 0] = process.argv.slice(2).map(Number)
const tally: Tally = { documents: 0, refused: 0, failed: 0 }
let seed = first

function fail(problem: string): never {
  process.stdout.write(`${problem}\n`)
  process.exit(1)
}

process.on('unhandledRejection', (reason) => {
  if (phase.current === 'engine') fail(`seed ${seed}: a rejection that nobody handles: ${reason}`)
})
// The event loop is empty, and a response is missing.
process.on('exit', (code) => {
  if (code === 13) process.stdout.write(`seed ${seed}: an answer never comes\n`)
})

const isDone = () => (seconds > 0 ? performance.now() >= seconds * 1000 : seed >= first + count)
for (; !isDone(); seed++) {
  const counterexample = await compareSeed(seed, tally)
  if (counterexample) fail(counterexample)
}
process.stdout.write(JSON.stringify({ seeds: seed - first, ...tally }))
