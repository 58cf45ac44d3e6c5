/**
 * Compares the engine with plain graphql-js: `main.ts FIRST COUNT`, or `main.ts FIRST 0 SECONDS` for as long as that.
 * A process of its own, because graphql-js leaves rejections behind that nobody handles. Prints the counterexample.
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
// Nothing is left to wait for, and an answer has not come.
process.on('exit', (code) => {
  if (code === 13) process.stdout.write(`seed ${seed}: an answer never comes\n`)
})

const isDone = () => (seconds > 0 ? performance.now() >= seconds * 1000 : seed >= first + count)
for (; !isDone(); seed++) {
  const counterexample = await compareSeed(seed, tally)
  if (counterexample) fail(counterexample)
}
process.stdout.write(JSON.stringify({ seeds: seed - first, ...tally }))
