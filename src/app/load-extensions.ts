/** Loads the extensions that the configuration names. Each module's default export is a feature, or a list of them. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { createRequire, registerHooks, stripTypeScriptTypes } from 'node:module'
import { basename, isAbsolute, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { root } from '../config/root.ts'
import { errorMessage } from '../core/error-message.ts'
import { exitCodes, FatalError } from '../core/fatal-error.ts'
import { type Feature, isFeature } from '../platform/feature.ts'

/** `directory` is the configuration folder, from which paths and package names are resolved. */
export async function loadExtensions(names: readonly string[], directory: string): Promise<Feature[]> {
  if (names.length > 0) registerLatchkeyImports()
  const features: Feature[] = []
  for (const name of names) features.push(...(await loadExtension(name, directory)))
  return features
}

async function loadExtension(name: string, directory: string): Promise<readonly Feature[]> {
  try {
    const module = (await import(pathToFileURL(findModule(name, directory)).href)) as { default?: unknown }
    const exported = [module.default].flat()
    if (exported.length > 0 && exported.every(isFeature)) return exported
    throw new Error('its default export is not a feature made by defineFeature, nor a list of such features')
  } catch (error) {
    // The further lines of Node's message list the importing files.
    const [reason] = errorMessage(error).split('\n', 1)
    const message = `extension ${name}: ${reason}`
    throw new FatalError(message, exitCodes.configuration, { cause: error })
  }
}

function findModule(name: string, directory: string): string {
  const isPath = name.startsWith('.') || isAbsolute(name)
  if (!isPath) return createRequire(join(resolve(directory), 'latchkey.js')).resolve(name)
  const path = resolve(directory, name)
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found) throw new Error(`there is no ${path}`)
  return found.isDirectory() ? findEntry(path) : path
}

function findEntry(folder: string): string {
  const description = join(folder, 'package.json')
  const main = existsSync(description) ? entryOf(JSON.parse(readFileSync(description, 'utf8'))) : undefined
  const entry = join(folder, main ?? 'index.ts')
  if (!existsSync(entry)) throw new Error(`there is no ${entry}`)
  return entry
}

function entryOf({ main, exports }: { main?: unknown; exports?: unknown }): string | undefined {
  const first = typeof exports === 'object' && exports !== null ? (exports as Record<string, unknown>)['.'] : exports
  if (typeof first === 'string') return first
  return typeof main === 'string' ? main : undefined
}

/** The URLs behind the exports of package.json: in a bundle these are modules of it (bin/bundle.ts). */
function findPublicModules(): Map<string, string> {
  const { name, exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    name: string
    exports: Record<string, string>
  }
  const bundle = Reflect.get(globalThis, Symbol.for('latchkey.bundle')) as string | undefined
  const urlOf = (file: string) => {
    const isBundled = bundle !== undefined && file.endsWith('.ts')
    return isBundled ? `${bundle}public-${basename(file, '.ts')}.mjs` : pathToFileURL(join(root, file)).href
  }
  return new Map(Object.entries(exports).map(([path, file]) => [name + path.slice(1), urlOf(file)]))
}

let isRegistered = false

/**
 * Resolves `latchkey` and `latchkey/…` to the running program, wherever the extension is and whatever is installed beside
 * it: a second copy would have its own features and error classes, and `instanceof` would fail between the two. Also
 * loads TypeScript from packages, because Node does not strip types in node_modules.
 */
function registerLatchkeyImports(): void {
  if (isRegistered) return
  isRegistered = true
  const publicModules = findPublicModules()
  registerHooks({
    resolve(specifier, context, next) {
      const url = publicModules.get(specifier)
      return url === undefined ? next(specifier, context) : { url, shortCircuit: true }
    },
    load(url, context, next) {
      if (!url.endsWith('.ts') || !url.includes('/node_modules/')) return next(url, context)
      const source = stripTypeScriptTypes(readFileSync(fileURLToPath(url), 'utf8'))
      return { format: 'module', source, shortCircuit: true }
    },
  })
}
