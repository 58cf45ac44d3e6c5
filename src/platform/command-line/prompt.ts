/** Asks on the terminal. A password is read without echo, or from standard input; never from arguments, which `ps` shows. */
import { createInterface } from 'node:readline/promises'
import { text } from 'node:stream/consumers'
import { exitCodes, FatalError } from '../../core/fatal-error.ts'

const interrupt = '\u0003'
const endOfInput = '\u0004'

export async function readPassword(): Promise<string> {
  if (!process.stdin.isTTY) return (await text(process.stdin)).replace(/\r?\n$/, '')
  const password = await ask('Password: ')
  if ((await ask('Again: ')) !== password) throw new FatalError('the two passwords differ', exitCodes.badData)
  return password
}

/** Returns undefined if there is no terminal to ask on. */
export async function confirm(question: string): Promise<boolean | undefined> {
  const { stdin: input, stderr: output } = process
  if (!input.isTTY) return undefined
  const asking = createInterface({ input, output })
  // An interrupt, or the end of the input, closes it without a reply.
  const closed = new Promise<string>((resolve) => asking.once('close', () => resolve('')))
  try {
    const reply = await Promise.race([asking.question(`${question} [y/N] `).catch(() => ''), closed])
    return /^y(es)?$/i.test(reply.trim())
  } finally {
    asking.close()
  }
}

/** Input typed or pasted beyond the end of a line, for the next question. */
let ahead = ''

async function ask(question: string): Promise<string> {
  const { stdin, stderr } = process
  stderr.write(question)
  stdin.setRawMode(true).setEncoding('utf8').resume()
  try {
    return await new Promise<string>((resolve, reject) => {
      let typed = ''
      function onKeys(keys: string): void {
        for (const [i, key] of [...keys].entries()) {
          if (key === interrupt) {
            reject(new FatalError('interrupted', exitCodes.failure))
            return
          }
          if (key === '\r' || key === '\n' || key === endOfInput) {
            ahead = [...keys].slice(i + 1).join('')
            stdin.off('data', onKeys)
            resolve(typed)
            return
          }
          typed = key === '\u007f' || key === '\b' ? [...typed].slice(0, -1).join('') : typed + key
        }
      }
      const waiting = ahead
      ahead = ''
      stdin.on('data', onKeys)
      onKeys(waiting)
    })
  } finally {
    stdin.setRawMode(false).pause()
    stderr.write('\n')
  }
}
