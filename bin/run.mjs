/**
 * Runs the program: its bundle if that is current, otherwise the sources. Called by bin/latchkey and bin/install.
 *
 *   run.mjs bundle         bundles the sources, unless the bundle is current
 *   run.mjs start …        the same where dependencies are installed by themselves too, then runs the program
 *   run.mjs run …          runs the program with these arguments
 *
 * It runs before everything else, so it imports nothing that it may not need.
 */
const { readFileSync, statSync } = process.getBuiltinModule('node:fs')

const root = import.meta.dirname.slice(0, -'/bin'.length)
/** Not in node_modules, which an install replaces while a service may be running. */
const folder = `${root}/.bundle`
const [mode] = process.argv.splice(2, 1)

if (mode === 'bundle') process.exit(findBundle() || (await makeBundle()) ? 0 : 1)
const bundle = process.env.LATCHKEY_BUNDLE === 'off' ? undefined : (findBundle() ?? (await makeIfAllowed()))
const main = bundle === undefined ? `${root}/src/main.ts` : `${folder}/${bundle}/main.cjs`
process.argv[1] = main
const program =
  bundle === undefined ? await import(main) : process.getBuiltinModule('node:module').createRequire(main)(main)
await program.finished

/** Its folder, if it was made from the files as they are, by this version of Node. Whatever is wrong with it, the sources run. */
function findBundle() {
  try {
    const manifest = JSON.parse(readFileSync(`${folder}/manifest.json`, 'utf8'))
    const { root: madeIn, node, bundle, files } = manifest
    if (madeIn !== root || node !== process.version || !statSync(`${folder}/${bundle}/main.cjs`).isFile())
      return undefined
    /** By path. Read only where a file has another time, as after a checkout or a copy. */
    let digests
    const hasSameContent = (path) => {
      digests ??= JSON.parse(readFileSync(`${folder}/${bundle}/digests.json`, 'utf8'))
      const { hash } = process.getBuiltinModule('node:crypto')
      return hash('sha256', readFileSync(`${root}/${path}`)) === digests[path]
    }
    const isSame = (file) => {
      const [path, size, time] = file
      const found = statSync(`${root}/${path}`)
      if (found.mtimeMs === time) return found.size === size
      file[2] = found.mtimeMs
      return found.size === size && hasSameContent(path)
    }
    if (!files.every(isSame)) return undefined
    if (digests) keepManifest(manifest)
    return bundle
  } catch {
    return undefined
  }
}

/** With the times of now, so that the next start has no content to compare. Where that cannot be written, it compares again. */
function keepManifest(manifest) {
  const { renameSync, writeFileSync } = process.getBuiltinModule('node:fs')
  const unfinished = `${folder}/manifest.${process.pid}`
  try {
    writeFileSync(unfinished, JSON.stringify(manifest))
    renameSync(unfinished, `${folder}/manifest.json`)
  } catch {}
}

/** As with dependencies, nothing is made by itself in production. */
async function makeIfAllowed() {
  if (mode !== 'start' || (process.env.NODE_ENV || 'development') !== 'development') return undefined
  return (await makeBundle()) ? findBundle() : undefined
}

async function makeBundle() {
  const { spawn } = process.getBuiltinModule('node:child_process')
  const child = spawn(process.execPath, [`${root}/bin/bundle.ts`], { stdio: ['ignore', 'inherit', 'inherit'] })
  const signals = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 }
  const end = (signal) => {
    child.kill(signal)
    process.exit(signals[signal])
  }
  for (const signal of Object.keys(signals)) process.on(signal, end)
  const code = await new Promise((resolve) => child.once('error', resolve).once('exit', resolve))
  for (const signal of Object.keys(signals)) process.off(signal, end)
  return code === 0
}
