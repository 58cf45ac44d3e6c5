/**
 * Bundles the sources and their dependencies into a few files, which start several times as fast as the thousand that they
 * are made from: see docs/decisions/0028-bundle.md. bin/run.mjs runs the bundle, or the sources while it is not current.
 */

import { spawn } from 'node:child_process'
import { hash } from 'node:crypto'
import { once } from 'node:events'
import {
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createRequire, isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import type { Plugin } from 'rolldown'

const root = join(import.meta.dirname, '..')
const sources = join(root, 'src')
const main = join(sources, 'main.ts')
const folder = join(root, '.bundle')
const newImport = /new URL\('(\.[^']*\.ts)', import\.meta\.url\)|import\.meta\.(dirname|url)/g
const dynamicImport = /import\('(\.[^']*\.ts)'\)/g
/** A process that still runs an earlier bundle may load further parts of it. */
const kept = 3
const dayMs = 24 * 60 * 60 * 1000
/** Of files that load.cjs loads and Node does not. */
const programEnd = '.program.js'
/** These take longest to load, and not every process uses them. They are objects of functions. */
const lazy = ['child_process', 'cluster', 'crypto', 'http2', 'https', 'inspector', 'net', 'perf_hooks', 'tls', 'zlib']
/** See `together`. */
const service = '\0latchkey:service'
const unavailable = 69

/** For tests of the bundle: a folder to make it in, and modules of which each gets a file of its name. */
const [ownFolder, ...also] = process.argv.slice(2)

const startedAt = performance.now()
const began = Date.now()
const name = `${began.toString(36)}-${process.pid}`
const manifest = join(folder, 'manifest.json')
const empty = mkdtempSync(join(tmpdir(), 'latchkey-bundle-'))
const made = new Set<string>()

/** Ends the program that is started once, if it is running. */
let endWarming = (): unknown => undefined

async function makeAll(target: string): Promise<void> {
  mkdirSync(target, { recursive: true })
  copyFileSync(join(import.meta.dirname, 'load-bundle.cjs'), join(target, 'load.cjs'))
  const alone = new Set<string>()
  await bundle(main, target, alone)
  // A thread that shares no object with another has no more code than it needs.
  for (const entry of alone) await bundle(entry, target)
}

/**
 * Starts the program once, on an empty database and without any configuration, so that the bundle has the code of all
 * functions that a start calls. Without it a start takes a third longer, and is otherwise the same.
 */
async function compileAll(target: string): Promise<void> {
  const env = {
    PATH: process.env.PATH ?? '',
    LATCHKEY_WRITES_CODE: '1',
    HOST: '127.0.0.1',
    GQL_WS_HOST: '127.0.0.1',
    PORT: '0',
    GQL_WS_PORT: '0',
    THREADS: '1',
    DATABASE_URL: `file:${join(empty, 'empty.db')}`,
    JWT_SECRET: 'nothing that is signed here lasts',
  }
  const args = [join(target, 'main.cjs'), '--config', empty, 'start']
  // It ends with its standard input, and so with this process.
  const child = spawn(process.execPath, args, { env, stdio: ['pipe', 'pipe', 'ignore'], timeout: 30_000 })
  const ended = once(child, 'exit')
  endWarming = () => child.kill('SIGKILL')
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.includes('is listening')) child.kill('SIGTERM')
  }
  await ended
}

/** `alone` gets the modules of threads that are bundles of their own. */
async function bundle(entry: string, target: string, alone?: Set<string>): Promise<void> {
  const { rolldown, RUNTIME_MODULE_ID } = await import('rolldown')
  const graph = new Map<string, readonly string[]>()
  const isProgram = alone !== undefined
  const bundled = await rolldown({
    input: { [nameOf(entry)]: entry },
    cwd: root,
    platform: 'node',
    // Native code finds its binary by its own place, and Piscina its worker.
    external: [/^@node-rs\//, 'piscina', 'pg-native'],
    treeshake: { propertyReadSideEffects: false },
    plugins: [
      builtins(RUNTIME_MODULE_ID),
      latePackages(),
      ...(isProgram ? [together(graph)] : []),
      places(alone ?? new Set()),
      remember,
    ],
    onLog: () => {},
  })
  const { output } = await bundled.write({
    dir: target,
    format: isProgram ? 'cjs' : 'esm',
    sourcemap: true,
    comments: false,
    dynamicImportInCjs: false,
    entryFileNames: isProgram ? `[name]${programEnd}` : '[name].mjs',
    chunkFileNames: '[name]-[hash].js',
    // For its stack traces.
    intro: isProgram ? '' : `process.getBuiltinModule('module').createRequire(import.meta.url)('./load.cjs')`,
    codeSplitting: isProgram ? { groups: [{ name: groupBy(graph), debugName: 'by use' }] } : false,
  })
  for (const chunk of output) {
    if (chunk.fileName.endsWith('.map')) shorten(join(target, chunk.fileName))
    if (chunk.type !== 'chunk') continue
    if (isProgram && chunk.isEntry) writeEntry(target, chunk)
  }
  await bundled.close()
}

/** Only the places are needed: a service reads the map with its first stack trace. */
function shorten(map: string): void {
  const { sourcesContent: _sources, ...rest } = JSON.parse(readFileSync(map, 'utf8'))
  writeFileSync(map, JSON.stringify(rest))
}

/** All that was read, also what leaves nothing but a constant elsewhere. */
const remember: Plugin = {
  name: 'remember',
  moduleParsed({ id }) {
    if (id.startsWith(sources)) made.add(id)
  },
}

/** What Node loads: for the command line and for threads, and as modules for extensions. */
function writeEntry(target: string, { fileName, exports }: { fileName: string; exports: readonly string[] }): void {
  const name = fileName.slice(0, -programEnd.length)
  const loading = `('./load.cjs')('${fileName}')`
  if (name === 'main' || name === 'serving-thread') {
    writeFileSync(join(target, `${name}.cjs`), `module.exports = require${loading}\n`)
    return
  }
  const lines = exports.map((each) => `export const ${each} = program.${each}\n`)
  const start = `import { createRequire } from 'node:module'\nconst program = createRequire(import.meta.url)${loading}\n`
  writeFileSync(join(target, `${name}.mjs`), start + lines.join(''))
}

function nameOf(entry: string): string {
  const path = relative(sources, entry)
  const isNamedByPath = path.startsWith('public') || also.includes(entry)
  return isNamedByPath ? path.slice(0, -'.ts'.length).replaceAll('/', '-') : basename(entry, '.ts')
}

/** `import.meta` of a source stays what it was, apart from modules that are loaded by their URL: these are in the bundle. */
function places(alone: Set<string>): Plugin {
  return {
    name: 'places',
    transform: {
      filter: { id: /\/src\/.*\.ts$/ },
      handler(code, id, { magicString }) {
        if (!magicString) return null
        // See load-bundle.cjs.
        for (const { index } of code.matchAll(/(?<=await )import\((?!')/g))
          magicString.overwrite(index, index + 6, 'importModule')
        for (const { 0: text, 1: path, 2: property, index } of code.matchAll(newImport)) {
          const start = index
          let replacement = JSON.stringify(property === 'dirname' ? dirname(id) : pathToFileURL(id).href)
          if (path !== undefined) {
            const target = resolve(dirname(id), path)
            const each = nameOf(target)
            const isThread = each === 'serving-thread'
            if (isThread) this.emitFile({ type: 'chunk', id: target, fileName: `${each}${programEnd}` })
            else alone.add(target)
            const here = `process.getBuiltinModule('node:url').pathToFileURL(__filename)`
            replacement = `new URL('./${each}.${isThread ? 'cjs' : 'mjs'}', ${here})`
          }
          magicString.overwrite(start, start + text.length, replacement)
        }
        return { code: magicString }
      },
    },
  }
}

/** An `import` of a built-in module reads all that it exports, and some of that loads fetch or WebCrypto. */
function builtins(runtime: string): Plugin {
  return {
    name: 'builtins',
    resolveId: {
      order: 'pre',
      handler(source, importer, { kind }) {
        if (!isBuiltin(source) || importer === runtime) return null
        const id = `\0${kind === 'require-call' ? 'required' : 'imported'}:${source.replace(/^node:/, '')}`
        return { id, moduleSideEffects: false }
      },
    },
    load: {
      filter: { id: /^\0(required|imported):/ },
      handler(id) {
        const [kind, module] = id.slice(1).split(':') as [string, string]
        const isLazy = lazy.includes(module)
        const got = `process.getBuiltinModule('node:${module}')`
        const builtin = isLazy ? `new Proxy({}, { get: (_, name) => ${got}[name] })` : got
        if (kind === 'required') return `module.exports = ${builtin}`
        const values = Object.entries(process.getBuiltinModule(`node:${module}`) ?? {})
        const lines = values.map(([name, value], i) => {
          if (name === 'default' || !/^[A-Za-z_$][\w$]*$/.test(name)) return ''
          const read = isLazy ? lateRead(`${got}.${name}`, name, value) : undefined
          const own = read ?? `/* @__PURE__ */ (() => ${got}.${name})()`
          return `const exported${i} = ${own}\nexport { exported${i} as ${name} }\n`
        })
        return `export default ${isLazy ? '/* @__PURE__ */ ' : ''}${builtin}\n${lines.join('')}`
      },
    },
  }
}

/** What begins with a small letter is called or read, never constructed. */
function lateRead(expression: string, name: string, value: unknown): string | undefined {
  if (!/^[a-z]/.test(name)) return undefined
  if (typeof value === 'function') return `(...given) => ${expression}(...given)`
  if (typeof value !== 'object') return undefined
  return `/* @__PURE__ */ new Proxy({}, { get: (_, key) => ${expression}[key] })`
}

/** Packages of functions that are evaluated with the first call. */
function latePackages(): Plugin {
  const require = createRequire(join(sources, 'main.ts'))
  return {
    name: 'late packages',
    resolveId: {
      filter: { id: /^graphql-jit$/ },
      handler: (source, importer) => (importer?.startsWith(sources) ? `\0late:${source}` : null),
    },
    load: {
      filter: { id: /^\0late:/ },
      handler(id) {
        const name = id.slice('\0late:'.length)
        const lines = Object.keys(require(name)).map(
          (each) => `export const ${each} = (...given) => require('${name}').${each}(...given)\n`,
        )
        return lines.join('')
      },
    },
  }
}

/**
 * What features import when they are created is one module, of which all is evaluated with its first use. Otherwise each of
 * these imports would be a file of its own.
 */
function together(graph: Map<string, readonly string[]>): Plugin {
  const names = namesOfServiceModules()
  return {
    name: 'together',
    resolveId: { filter: { id: /^latchkey:service$/ }, handler: () => service },
    load: {
      filter: { id: /^\0latchkey:service$/ },
      handler: () => [...names].map(([id, each]) => `export * as ${each} from ${JSON.stringify(id)}\n`).join(''),
    },
    transform: {
      filter: { id: /\/src\/.*\.ts$/ },
      handler(code, id, { magicString }) {
        if (!magicString || !isLoading(id)) return null
        for (const { 0: text, 1: path = '', index } of code.matchAll(dynamicImport)) {
          const each = names.get(resolve(dirname(id), path))
          if (each === undefined) continue
          magicString.overwrite(index, index + text.length, `import('latchkey:service').then((all) => all.${each})`)
        }
        return { code: magicString }
      },
    },
    /** What extensions import is of the same program. */
    buildStart() {
      const found = globSync('public/*.ts', { cwd: sources }).map((path) => join(sources, path))
      for (const id of [...found, ...also]) this.emitFile({ type: 'chunk', id, fileName: `${nameOf(id)}${programEnd}` })
    },
    moduleParsed({ id, importedIds }) {
      graph.set(id, importedIds)
    },
  }
}

function isLoading(id: string): boolean {
  return /\.(feature|pages)\.ts$/.test(id) || id === join(sources, 'commands', 'start.ts')
}

function namesOfServiceModules(): Map<string, string> {
  const names = new Map<string, string>()
  for (const path of globSync('**/*.ts', { cwd: sources })) {
    const id = join(sources, path)
    if (!isLoading(id)) continue
    for (const [, imported = ''] of readFileSync(id, 'utf8').matchAll(dynamicImport)) {
      const target = resolve(dirname(id), imported)
      // With several threads, only the others load the service.
      if (!target.endsWith('start-threads.ts') && !names.has(target)) names.set(target, `module${names.size}`)
    }
  }
  return names
}

/** What every command needs; what any serving process needs; and the service itself. */
function groupBy(graph: ReadonlyMap<string, readonly string[]>): (id: string) => string | null {
  let groups: Map<string, string> | undefined
  return (id) => {
    groups ??= findGroups(graph)
    return groups.get(id) ?? null
  }
}

function findGroups(graph: ReadonlyMap<string, readonly string[]>): Map<string, string> {
  const groups = new Map<string, string>()
  const add = (id: string, group: string): void => {
    if (groups.has(id)) return
    groups.set(id, group)
    for (const next of graph.get(id) ?? []) add(next, group)
  }
  // The entry itself waits for others, which must not wait for it.
  for (const id of graph.get(main) ?? []) add(id, 'base')
  add(join(sources, 'commands/feature-settings.ts'), 'base')
  for (const path of ['commands/settings.ts', 'commands/start.ts', 'app/threads/start-threads.ts'])
    add(join(sources, path), 'process')
  add(service, 'service')
  return groups
}

/** Written last, at once: what is not finished is not found. Only what the bundle is made from can make it outdated. */
function writeManifest(): void {
  const tools = ['bin/bundle.ts', 'bin/load-bundle.cjs', 'package.json', 'node_modules/.package-lock.json']
  const paths = [...[...made].map((id) => relative(root, id)), ...tools]
  const files = paths.map((path) => {
    const { size, mtimeMs } = statSync(join(root, path))
    if (mtimeMs >= began && mtimeMs <= Date.now()) throw new Error(`${path} has changed meanwhile`)
    return [path, size, mtimeMs]
  })
  const digests = paths.map((path) => [path, hash('sha256', readFileSync(join(root, path)))])
  const bundles = [name, ...readEarlier()]
  const text = JSON.stringify({ root, node: process.version, bundle: name, bundles: bundles.slice(0, kept), files })
  writeFileSync(join(folder, name, 'digests.json'), JSON.stringify(Object.fromEntries(digests)))
  writeFileSync(join(folder, name, 'manifest.json'), text)
  renameSync(join(folder, name, 'manifest.json'), manifest)
  removeOld(bundles)
}

/** Those before the newest, and what builds left that were interrupted. */
function removeOld(bundles: readonly string[]): void {
  const old = readdirSync(folder).filter((each) => {
    const path = join(folder, each)
    const isRecent = began - statSync(path).mtimeMs < dayMs
    return path !== manifest && !bundles.slice(0, kept).includes(each) && (bundles.includes(each) || !isRecent)
  })
  for (const each of old) rmSync(join(folder, each), { recursive: true, force: true })
}

/** The newest first. */
function readEarlier(): string[] {
  try {
    return JSON.parse(readFileSync(manifest, 'utf8')).bundles ?? []
  } catch {
    return []
  }
}

function say(text: string): void {
  process.stderr.write(`latchkey: ${text}\n`)
}

/** Nothing is left of a build that ends early. The program that was started may still write for a moment. */
function cleanUp(): void {
  const options = { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }
  for (const path of [join(folder, name), empty]) rmSync(path, options)
}

for (const [signal, code] of [
  ['SIGHUP', 129],
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)
  process.once(signal, () => {
    endWarming()
    cleanUp()
    process.exit(code)
  })

if (ownFolder !== undefined) {
  await makeAll(ownFolder)
  cleanUp()
  process.exit()
}
say('bundling the sources')
try {
  await makeAll(join(folder, name))
  await compileAll(join(folder, name))
  writeManifest()
  rmSync(empty, { recursive: true, force: true })
} catch (error) {
  cleanUp()
  say(`the sources cannot be bundled, so they run as they are: ${(error as Error).message.split('\n', 3).join(' ')}`)
  process.exit(unavailable)
}
say(`bundled in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
