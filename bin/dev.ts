/**
 * `npm run dev`: runs the sources, and again whenever one of their files changes. The next process is prepared beforehand: it
 * has loaded everything but the files that are being edited and what imports them. Loading takes most of a start.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { type FSWatcher, watch } from 'node:fs'
import { registerHooks } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = dirname(import.meta.dirname)
const main = join(root, 'src', 'main.ts')
const dependencies = join(root, 'node_modules')
const sources = join(root, 'src')
const features = join(sources, 'features')
/** Editors write a file in several steps, some of them beside it. */
const settledMs = 50
/** A program that does not end is killed. */
const maxStopMs = 8000
const temporary = /(?:^|[/\\])\.|~$|[/\\]\d+$/
/** Once nothing has been loaded for so long, the start is over. */
const preparedAfterMs = 300
const reportedEveryMs = 100

/** To a process: load these modules, or run the program. From it: what it has loaded. */
type Order = { prepare: readonly string[] } | { run: readonly string[] }
type Report = { loaded: readonly string[]; imported: readonly Import[] }
/** URLs of modules. */
type Import = [importer: string, imported: string]

if (process.send) beRun()
else superviseRuns(process.argv.slice(2))

function superviseRuns(args: readonly string[]): void {
  let running: ChildProcess | undefined
  let prepared: ChildProcess | undefined
  let isEnding = false
  let isStopping = false
  /** Until then, the folders of the program before are watched. */
  let isFirstReport = true
  /** URLs of the modules that the program has loaded so far, and who imports them. */
  const known = new Set<string>()
  const importers = new Map<string, Set<string>>()
  /** URLs of changed files. Until there are any, all features are taken for edited. */
  const edited = new Set<string>()
  let preparedModules = new Set<string>()
  /** By folder. */
  const watched = new Map<string, { files: Set<string>; watcher: FSWatcher }>()
  let changed: string | undefined
  let settling: NodeJS.Timeout | undefined
  let preparing: NodeJS.Timeout | undefined

  for (const folder of ['src', 'config']) {
    const watcher = watch(join(root, folder), { recursive: true }, (_event, name) => {
      if (name !== null && !temporary.test(name)) noticeChange(join(root, folder, name))
    })
    watcher.on('error', (error) => tell(`cannot watch ${folder}: ${error.message}`))
  }
  // At a terminal the program gets this signal itself.
  process.on('SIGINT', () => end(process.stdin.isTTY ? undefined : 'SIGINT'))
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => end(signal))
  start()

  function launch(): ChildProcess {
    const child = fork(import.meta.filename)
    child.on('message', ({ loaded, imported }: Report) => {
      if (child === running && isFirstReport) forgetFolders()
      if (child === running) isFirstReport = false
      for (const url of loaded) note(url)
      for (const [importer, url] of imported) importersOf(url).add(importer)
      if (child === running) prepareSoon()
    })
    child.on('error', (error) => tell(error.message))
    child.once('exit', () => {
      if (child === prepared) prepared = undefined
    })
    return child
  }

  function start(): void {
    clearTimeout(preparing)
    // It loads what is there now.
    changed = undefined
    isFirstReport = true
    const child = prepared ?? launch()
    prepared = undefined
    running = child
    order(child, { run: args })
    child.once('exit', (code) => {
      running = undefined
      if (isEnding) process.exit(code ?? 1)
      if (isStopping) start()
      else tell(`ended with code ${code}; it starts again when a file changes`)
      isStopping = false
    })
  }

  function prepareSoon(): void {
    if (prepared) return
    clearTimeout(preparing)
    preparing = setTimeout(() => {
      prepared = launch()
      preparedModules = new Set(known).difference(everythingEdited())
      order(prepared, { prepare: [...preparedModules] })
    }, preparedAfterMs)
  }

  /** With what imports it. */
  function everythingEdited(): Set<string> {
    const isEdited = (url: string) => (edited.size > 0 ? edited.has(url) : fileURLToPath(url).startsWith(features))
    // To load the program is to run it.
    const found = new Set([pathToFileURL(main).href, ...[...known].filter(isEdited)])
    for (const url of found) for (const importer of importersOf(url)) found.add(importer)
    return found
  }

  function importersOf(url: string): Set<string> {
    const there = importers.get(url) ?? new Set()
    importers.set(url, there)
    return there
  }

  function noticeChange(path: string): void {
    changed ??= path
    const url = pathToFileURL(path).href
    edited.add(url)
    // It has loaded the file as it was.
    if (preparedModules.has(url)) {
      prepared?.kill('SIGKILL')
      prepared = undefined
    }
    clearTimeout(settling)
    settling = setTimeout(startAgain, settledMs)
  }

  function startAgain(): void {
    if (isEnding || isStopping) return
    tell(`${relative(root, changed ?? root)} has changed; starting again`)
    isStopping = running !== undefined
    if (running) stop(running, 'SIGTERM')
    else start()
  }

  function stop(child: ChildProcess, signal: NodeJS.Signals): void {
    child.kill(signal)
    const killing = setTimeout(() => child.kill('SIGKILL'), maxStopMs)
    child.once('exit', () => clearTimeout(killing))
  }

  function note(url: string): void {
    const path = fileURLToPath(url)
    if (/\.[cm]?[jt]s$/.test(path)) known.add(url)
    if (!path.startsWith(dependencies) && !path.startsWith(sources)) watchFile(path)
  }

  /** Such as those of extensions. By their folder: editors replace files. */
  function watchFile(path: string): void {
    const folder = dirname(path)
    const there = watched.get(folder)
    if (there) {
      there.files.add(basename(path))
      return
    }
    const files = new Set([basename(path)])
    try {
      const watcher = watch(folder, (_event, name) => {
        if (name !== null && files.has(name)) noticeChange(join(folder, name))
      })
      watcher.on('error', () => watched.delete(folder))
      watched.set(folder, { files, watcher })
    } catch (error) {
      tell(`cannot watch ${folder}: ${(error as Error).message}`)
    }
  }

  /** A folder that was replaced has to be watched anew, once the program has loaded its files. */
  function forgetFolders(): void {
    for (const { watcher } of watched.values()) watcher.close()
    watched.clear()
  }

  function end(signal: NodeJS.Signals | undefined): void {
    // Asked twice, it does not wait.
    if (isEnding) running?.kill('SIGKILL')
    isEnding = true
    clearTimeout(preparing)
    clearTimeout(settling)
    prepared?.kill('SIGKILL')
    if (!running) process.exit(0)
    if (signal) stop(running, signal)
  }
}

function order(child: ChildProcess, given: Order): void {
  child.send(given, () => {})
}

function tell(line: string): void {
  process.stderr.write(`latchkey: ${line}\n`)
}

/** Loads modules when it is told to, and then the program. */
function beRun(): void {
  let loaded: string[] = []
  let imported: Import[] = []
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const found = nextResolve(specifier, context)
      const { parentURL } = context
      if (found.url.startsWith('file:') && parentURL?.startsWith('file:')) imported.push([parentURL, found.url])
      return found
    },
    load(url, context, nextLoad) {
      if (url.startsWith('file:')) loaded.push(url)
      return nextLoad(url, context)
    },
  })
  let work = Promise.resolve()
  process.on('message', (given: Order) => {
    work = work.then(() => ('prepare' in given ? prepare(given.prepare) : run(given.run)))
  })
  // Whoever ends the other process wants no service left behind.
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))

  async function prepare(urls: readonly string[]): Promise<void> {
    // What a dependency needs to be loaded may not be there yet.
    for (const url of urls) await import(url).catch(() => {})
  }

  async function run(args: readonly string[]): Promise<void> {
    process.channel?.unref()
    process.argv = [process.execPath, main, 'start', ...args]
    // Each further thread would load the program by itself.
    process.env.THREADS ??= '1'
    setInterval(report, reportedEveryMs).unref()
    process.once('exit', report)
    await import(main)
  }

  function report(): void {
    // What was loaded before can be imported by others later.
    if (loaded.length + imported.length > 0 && process.connected) process.send?.({ loaded, imported } satisfies Report)
    loaded = []
    imported = []
  }
}
