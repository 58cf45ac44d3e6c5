/** A password from a person, without showing it, or from standard input. Never from the arguments, which anybody sees. */
import { text } from 'node:stream/consumers'
import { exitCodes, FatalError } from '../core/fatal-error.ts'

const interrupt = '\u0003'
const endOfInput = '\u0004'

export async function readPassword(): Promise<string> {
  if (!process.stdin.isTTY) return (await text(process.stdin)).replace(/\r?\n$/, '')
  const password = await ask('Password: ')
  if ((await ask('Again: ')) !== password) throw new FatalError('the two passwords differ', exitCodes.badData)
  return password
}

async function ask(question: string): Promise<string> {
  const { stdin, stderr } = process
  stderr.write(question)
  stdin.setRawMode(true).setEncoding('utf8').resume()
  try {
    return await new Promise<string>((resolve, reject) => {
      let typed = ''
      stdin.on('data', function onKeys(keys: string) {
        for (const key of keys) {
          if (key === '\r' || key === '\n' || key === endOfInput) {
            stdin.off('data', onKeys)
            return resolve(typed)
          }
          if (key === interrupt) return reject(new FatalError('interrupted', exitCodes.failure))
          if (key === '\u007f' || key === '\b') typed = [...typed].slice(0, -1).join('')
          else typed += key
        }
      })
    })
  } finally {
    stdin.setRawMode(false).pause()
    stderr.write('\n')
  }
}
