/**
 * Part of the bundle as load.cjs: loads the files of the program, with the code that V8 made of them when they were bundled.
 * Node's own compile cache has only what is compiled at once, and so lacks most functions that a start calls.
 */
const { readFileSync, writeFileSync } = process.getBuiltinModule('node:fs')
const { createRequire, SourceMap } = process.getBuiltinModule('node:module')
const { fileURLToPath, pathToFileURL } = process.getBuiltinModule('node:url')
const { constants, Script } = process.getBuiltinModule('node:vm')

const start = '(function (exports, require, module, __filename, __dirname, importModule) {'
const modules = new Map()
const scripts = new Map()
let outside

function load(name) {
  const known = modules.get(name)
  if (known) return known.exports
  const filename = `${__dirname}/${name}`
  const module = { exports: {} }
  modules.set(name, module)
  const script = new Script(`${start}${readFileSync(filename, 'utf8')}\n})`, {
    filename,
    columnOffset: -start.length,
    cachedData: readCode(`${filename}.code`),
    // Of dependencies. Our own sources call importModule, which Node does not warn of.
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  })
  scripts.set(filename, script)
  script.runInThisContext()(module.exports, requireFrom, module, filename, __dirname, importModule)
  return module.exports
}

function requireFrom(id) {
  if (id.startsWith('./')) return load(id.slice(2))
  const builtin = process.getBuiltinModule(id)
  if (builtin) return builtin
  // Of the few packages that are not bundled.
  outside ??= createRequire(__filename)
  return outside(id)
}

/** For extensions. */
const importModule = (url) => import(url)

/** Refused by V8, and then made anew, by another version or on another kind of processor. */
function readCode(path) {
  try {
    return readFileSync(path)
  } catch {
    return undefined
  }
}

/** For the bundler, which starts the program once. */
if (process.env.LATCHKEY_WRITES_CODE) {
  process.stdin.once('end', () => process.exit(1)).resume()
  process.once('exit', () => {
    for (const [filename, script] of scripts) writeFileSync(`${filename}.code`, script.createCachedData())
  })
}

/** Stack traces name the sources. A map is read with the first trace that needs it. */
const maps = new Map()

function mapOf(filename) {
  if (!maps.has(filename)) maps.set(filename, new SourceMap(JSON.parse(readFileSync(`${filename}.map`, 'utf8'))))
  return maps.get(filename)
}

function describe(frame) {
  const text = String(frame)
  try {
    const place = frame.getFileName()
    const filename = place?.startsWith('file:') ? fileURLToPath(place) : place
    if (!filename?.startsWith(`${__dirname}/`)) return text
    const [line, column] = [frame.getLineNumber(), frame.getColumnNumber()]
    const { originalSource, originalLine, originalColumn } = mapOf(filename).findEntry(line - 1, column - 1)
    if (originalSource === undefined) return text
    const source = new URL(originalSource, pathToFileURL(filename)).href
    return text.replace(`${place}:${line}:${column}`, `${source}:${originalLine + 1}:${originalColumn + 1}`)
  } catch {
    return text
  }
}

Error.prepareStackTrace = (error, frames) => {
  let title = 'Error'
  try {
    // As Node does it for its own errors.
    const { code, name, message } = error
    title = typeof code === 'string' && code.startsWith('ERR_') ? `${name} [${code}]: ${message}` : String(error)
  } catch {
    // Whatever was thrown, it has a trace.
  }
  return [title, ...frames.map((frame) => `    at ${describe(frame)}`)].join('\n')
}

/** Where extensions find what they import of the program: see load-extensions.ts. */
globalThis[Symbol.for('latchkey.bundle')] = pathToFileURL(`${__dirname}/`).href

module.exports = load
