/**
 * Installs the dependencies into a temporary folder, then swaps it with node_modules. An install that fails or is killed
 * at any point leaves the old node_modules in place. Called by bin/install.
 *
 * Plain JavaScript without dependencies, because it runs on the machine's own Node, which may be older than the pinned one.
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
/** Holds unfinished installs. On the same file system as node_modules, so that the swap is a rename. */
const work = join(root, '.install')
const lock = join(work, 'lock')
const own = join(work, `${process.pid}-${process.hrtime.bigint()}`)
const unavailable = 69
/** The holder of the lock touches it every second. */
const staleMs = 60_000

const isAutomatic = process.argv.includes('--automatic')
const asksForDev = process.argv.includes('--dev')
/** Installed development dependencies are kept, so that the next test run need not install them again. */
const hasDev = asksForDev || isInstalled('typescript')

/** @type {import('node:child_process').ChildProcess | undefined} */
let npm

if (process.argv.includes('--restore')) {
  await restore()
  removeLeftovers()
} else if (process.argv.includes('--bundle')) {
  bundle()
} else {
  process.exitCode = await install().catch((error) => giveUp(error.message))
  // Before a start, bin/run.mjs does this if it has to.
  if (process.exitCode === 0 && !isAutomatic) bundle()
}

/** Without a bundle the sources run as they are. */
function bundle() {
  if (process.env.LATCHKEY_BUNDLE === 'off') return
  const pinned = join(modules, 'node', 'bin', 'node')
  const node = existsSync(pinned) ? pinned : process.execPath
  spawnSync(node, [join(root, 'bin', 'run.mjs'), 'bundle'], { stdio: 'inherit' })
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
    // The previous holder of the lock may have installed the same versions.
    if (isCurrent()) return 0
    mkdirSync(own)
    for (const name of ['package.json', 'package-lock.json', '.npmrc']) {
      if (existsSync(join(root, name))) copyFileSync(join(root, name), join(own, name))
    }
    await runNpm()
    swap()
    return 0
  } finally {
    // If the swap failed half-way, the old folder must be put back before clean-up deletes it.
    await restore()
    clearInterval(heartbeat)
    cleanUp()
  }
}

/** The lock only saves work. Two installs at once do no harm: each has its own folder, and the later swap wins. */
async function takeLock() {
  const mine = `${own}.pid`
  writeIn(work, mine)
  try {
    for (let hasWaited = false; ; hasWaited = true) {
      try {
        // A hard link appears with its content; a file that is created and then written would be empty for a moment.
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

/** Another process may remove the empty folder between our mkdir and the write. */
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
    // Released in the meantime; the caller tries to take it again.
    return false
  }
}

function holder() {
  return Number(readFileSync(lock, 'utf8'))
}

/** The entry "lock" has no process id; it is never treated as a leftover. */
function isRunning(pid) {
  if (Number.isNaN(pid)) return true
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code !== 'ESRCH'
  }
}

/** Puts the old node_modules back after an install was killed between its two renames. */
async function restore() {
  if (existsSync(modules) || !existsSync(work)) return
  for (const name of readdirSync(work)) {
    const old = join(work, name, 'old')
    if (!existsSync(old)) continue
    // That install may still be running, about to put the new folder in place.
    for (let i = 0; i < 20 && existsSync(lock) && !isAbandoned() && !existsSync(modules); i++) await sleep(50)
    try {
      renameSync(old, modules)
    } catch (error) {
      // The new folder is in place, or another process has restored the old one.
      if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(error.code)) throw error
    }
  }
}

async function runNpm() {
  const part = hasDev ? ['--include=dev'] : ['--omit=dev']
  const quiet = ['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error']
  // Engine checks would see the machine's Node, but the packages run on the pinned one.
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

/** A spinner on terminals; in logs, a line every ten seconds. */
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

/** If it is killed between the two renames, the next run restores the old folder. */
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
      // Between the two renames, another process put a folder there.
      if (!['ENOTEMPTY', 'EEXIST'].includes(error.code) || attempt === 5) throw error
    }
  }
}

function cleanUp() {
  remove(own)
  try {
    if (holder() === process.pid) remove(lock)
  } catch {
    // The lock was taken over while this process was suspended, and has been released since.
  }
  removeLeftovers()
}

/** Removes what killed installs have left, and the work folder if it is empty. */
function removeLeftovers() {
  try {
    for (const name of readdirSync(work)) if (!isRunning(Number.parseInt(name, 10))) remove(join(work, name))
    rmdirSync(work)
  } catch {
    // Already removed, or in use by another install.
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

/** npm writes .package-lock.json last; without it the install was interrupted. */
function isInstalled(name) {
  return existsSync(join(modules, '.package-lock.json')) && existsSync(join(modules, name))
}

function touch(path) {
  const now = new Date()
  try {
    utimesSync(path, now, now)
  } catch {
    // The lock was taken over while this process was suspended.
  }
}

function remove(path) {
  try {
    rmSync(path, { recursive: true, force: true, maxRetries: 5 })
  } catch {
    // The npm of a killed install may still be writing; the next install removes what is left.
  }
}

function say(line) {
  process.stderr.write(`latchkey: ${line}\n`)
}
