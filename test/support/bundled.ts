/** A bundle of the sources in which tests find every module that they import, so that they test the bundle instead. */
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from '../../src/config/root.ts'

const sources = join(root, 'src')
/** Those of types alone are not there when tests run. */
const imported = /^(?:import (?!type )|export |\} )[^\n]*from '(\.[^']*\.ts)'$/gm

/** Returns a module that is to be loaded before the tests, in each thread. */
export function makeBundle(folder: string, files: readonly string[]): string {
  const modules = findModules([...files, ...globSync('test/support/*.ts', { cwd: root })])
  const bundle = join(folder, 'bundle')
  // What is not bundled is found from there.
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  execFileSync(process.execPath, [join(root, 'bin', 'bundle.ts'), bundle, ...modules])
  const urlOf = (path: string) => pathToFileURL(path).href
  const places = modules.map((path) => {
    const name = relative(sources, path).slice(0, -'.ts'.length).replaceAll('/', '-')
    return [urlOf(path), urlOf(join(bundle, `${name}.mjs`))]
  })
  const hooks = join(folder, 'bundled.mjs')
  writeFileSync(
    hooks,
    `import { registerHooks } from 'node:module'
const places = new Map(${JSON.stringify(places)})
registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context)
    const url = places.get(found.url)
    return url === undefined ? found : { url, format: 'module', shortCircuit: true }
  },
})
`,
  )
  return hooks
}

function findModules(files: readonly string[]): string[] {
  const found = new Set<string>()
  for (const file of files) {
    for (const [, path = ''] of readFileSync(join(root, file), 'utf8').matchAll(imported)) {
      const target = resolve(root, dirname(file), path)
      if (target.startsWith(sources)) found.add(target)
    }
  }
  return [...found].sort()
}
