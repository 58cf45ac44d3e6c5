/**
 * Installs the dependencies into a new folder, which then takes the place of node_modules. Until then what is there is
 * left alone: an install that fails, or is killed at any point, costs nothing. Called by bin/install.
 *
 * Plain JavaScript without dependencies: it runs on the Node that the machine has, which may be older than ours.
 */
import { spawn, spawnSync } from 'node:child_process'
import {
  closeSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const modules = join(root, 'node_modules')
/** Everything of an install that is not finished. On the disk of node_modules, so that a rename is enough. */
const work = join(root, '.install')
const lock = join(work, 'lock')
const own = join(work, `${process.pid}-${process.hrtime.bigint()}`)
const unavailable = 69
/** Whoever holds the lock touches it every second. */
const staleMs = 60_000

const isAutomatic = process.argv.includes('--automatic')
const asksForDev = process.argv.includes('--dev')
/** Whoever has tested here before is not made to install all that again. */
const hasDev = asksForDev || isInstalled('typescript')

/** @type {import('node:child_process').ChildProcess | undefined} */
let npm

if (process.argv.includes('--restore')) {
  await restore()
  removeLeftovers()
} else {
  process.exitCode = await install().catch((error) => giveUp(error.message))
}

async function install() {
  await takeLock()
  const heartbeat = setInterval(() => touch(lock), 1000)
  const end = (signal, code) =>
    process.once(signal, () => {
      npm?.kill()
      cleanUp()
      process.exit(code)
    })
  end('SIGINT', 130)
  end('SIGTERM', 143)
  end('SIGHUP', 129)
  try {
    await restore()
    removeLeftovers()
    // Whoever had the lock before may have installed the very same.
    if (isCurrent()) return 0
    mkdirSync(own)
    for (const name of ['package.json', 'package-lock.json', '.npmrc']) {
      if (existsSync(join(root, name))) copyFileSync(join(root, name), join(own, name))
    }
    await runNpm()
    swap()
    return 0
  } finally {
    // Where the new folder could not be put there, before the old one is removed with the rest.
    await restore()
    clearInterval(heartbeat)
    cleanUp()
  }
}

/** A lock saves work. Two installs at once would do no harm: each has a folder of its own, and the later one wins. */
async function takeLock() {
  const mine = `${own}.pid`
  writeIn(work, mine)
  try {
    for (let hasWaited = false; ; hasWaited = true) {
      try {
        // Unlike a file that is created and then written, a link has its content from the first moment.
        linkSync(mine, lock)
        return
      } catch (error) {
        if (error.code !== 'EEXIST') throw error
      }
      if (isAbandoned()) {
        remove(lock)
        continue
      }
      if (!hasWaited) say('another process is installing the dependencies; waiting for it')
      await sleep(200)
    }
  } finally {
    remove(mine)
  }
}

/** Whoever is done removes the folder when it is empty, which may be just now. */
function writeIn(folder, file) {
  for (let attempt = 0; ; attempt++) {
    mkdirSync(folder, { recursive: true })
    try {
      return writeFileSync(file, String(process.pid))
    } catch (error) {
      if (error.code !== 'ENOENT' || attempt === 5) throw error
    }
  }
}

function isAbandoned() {
  try {
    return Date.now() - statSync(lock).mtimeMs > staleMs || !isRunning(holder())
  } catch {
    // It is gone: there to be taken.
    return false
  }
}

function holder() {
  return Number(readFileSync(lock, 'utf8'))
}

/** What is no number is the lock itself, which belongs to a process that runs. */
function isRunning(pid) {
  if (Number.isNaN(pid)) return true
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code !== 'ESRCH'
  }
}

/** Puts the old folder back that an install had taken away when it was killed. */
async function restore() {
  if (existsSync(modules) || !existsSync(work)) return
  for (const name of readdirSync(work)) {
    const old = join(work, name, 'old')
    if (!existsSync(old)) continue
    // Its install may be alive, and a moment away from putting the new one there.
    for (let i = 0; i < 20 && existsSync(lock) && !isAbandoned() && !existsSync(modules); i++) await sleep(50)
    try {
      renameSync(old, modules)
    } catch (error) {
      // The new one was put there, or somebody else was faster.
      if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(error.code)) throw error
    }
  }
}

async function runNpm() {
  const part = hasDev ? ['--include=dev'] : ['--omit=dev']
  const quiet = ['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error']
  // Packages state which Node they run on; it is the pinned one, not the one that npm runs on now.
  const settings = ['--include=optional', '--no-engine-strict', '--prefer-offline', '--fetch-retry-mintimeout=1000']
  const log = join(own, 'npm.log')
  const output = openSync(log, 'w')
  const startedAt = performance.now()
  npm = spawn('npm', ['ci', ...part, ...settings, ...quiet], { cwd: own, stdio: ['ignore', output, output] })
  closeSync(output)
  const done = showProgress(hasDev ? 'installing all dependencies' : 'installing what serving needs')
  const outcome = await new Promise((resolve) => {
    npm.once('error', (error) => resolve(error.message))
    npm.once('close', (code, signal) => resolve(code === 0 ? undefined : `npm ended by ${signal ?? code}`))
  })
  npm = undefined
  done()
  if (outcome === undefined && existsSync(join(own, 'node_modules', '.package-lock.json'))) {
    say(`installed in ${Math.ceil((performance.now() - startedAt) / 1000)} s`)
    return
  }
  process.stderr.write(readFileSync(log, 'utf8').split('\n').slice(-20).join('\n'))
  throw new Error(outcome ?? 'npm installed nothing')
}

/** A terminal has a line that counts the seconds; a log gets a new line now and then. */
function showProgress(what) {
  const { stderr } = process
  const startedAt = performance.now()
  const seconds = () => Math.round((performance.now() - startedAt) / 1000)
  if (!stderr.isTTY) {
    say(`${what}; this takes a minute or so`)
    const timer = setInterval(() => say(`still ${what}, ${seconds()} s so far`), 10_000)
    return () => clearInterval(timer)
  }
  const frames = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'
  let turn = 0
  const draw = () => {
    turn += 1
    stderr.write(`\r\x1b[2K${frames[turn % frames.length]} latchkey: ${what}, ${seconds()} s`)
  }
  draw()
  const timer = setInterval(draw, 120)
  return () => {
    clearInterval(timer)
    stderr.write('\r\x1b[2K')
  }
}

/** Where it is killed between the two renames, the next one to come puts the old folder back. */
function swap() {
  for (let attempt = 0; ; attempt++) {
    try {
      renameSync(modules, join(own, attempt === 0 ? 'old' : `old-${attempt}`))
    } catch (error) {
      if (error.code !== 'ENOENT') throw error
    }
    try {
      return renameSync(join(own, 'node_modules'), modules)
    } catch (error) {
      // Another install, or a command that put the old one back, was here in between.
      if (!['ENOTEMPTY', 'EEXIST'].includes(error.code) || attempt === 5) throw error
    }
  }
}

function cleanUp() {
  remove(own)
  try {
    if (holder() === process.pid) remove(lock)
  } catch {
    // Taken over while this process was stopped, and gone since.
  }
  removeLeftovers()
}

/** What killed installs have left, and the folder itself where nobody else is in it. */
function removeLeftovers() {
  try {
    for (const name of readdirSync(work)) if (!isRunning(Number.parseInt(name, 10))) remove(join(work, name))
    rmdirSync(work)
  } catch {
    // It is gone, or others are at work in it.
  }
}

function giveUp(reason) {
  const isUsable = isInstalled('fastify') && !asksForDev
  if (isAutomatic && isUsable) {
    say(`the dependencies could not be installed (${reason}); going on with those that were installed before`)
    return 0
  }
  const command = `bin/install${asksForDev ? ' --dev' : ''}`
  say(`the dependencies could not be installed (${reason}); to try again, run "${command}" in ${root}`)
  return unavailable
}

function isCurrent() {
  return spawnSync(join(root, 'bin', 'install'), ['--check', ...(hasDev ? ['--dev'] : [])]).status === 0
}

/** npm writes its own list last: what has none was interrupted. */
function isInstalled(name) {
  return existsSync(join(modules, '.package-lock.json')) && existsSync(join(modules, name))
}

function touch(path) {
  const now = new Date()
  try {
    utimesSync(path, now, now)
  } catch {
    // Taken over while this process was stopped.
  }
}

function remove(path) {
  try {
    rmSync(path, { recursive: true, force: true, maxRetries: 5 })
  } catch {
    // Whoever is killed leaves an npm that goes on writing for a moment; the next install removes what is left.
  }
}

function say(line) {
  process.stderr.write(`latchkey: ${line}\n`)
}
