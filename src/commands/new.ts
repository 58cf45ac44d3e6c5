/** `latchkey new <name>`: writes a working extension by copying examples/notes under another name. */
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { root } from '../config/root.ts'
import { exitCodes, FatalError } from '../core/fatal-error.ts'

const template = join(root, 'examples', 'notes')
const namePattern = /^[a-z][a-z0-9]{1,30}$/

export async function createExtension(name: string): Promise<void> {
  if (!namePattern.test(name)) {
    throw new FatalError(`"${name}" is no name for an extension: use lower-case letters and digits`, exitCodes.usage)
  }
  const folder = resolve(name)
  if (existsSync(folder)) throw new FatalError(`cannot write ${folder}: it exists`, exitCodes.cannotCreate)
  for (const file of await readdir(template, { recursive: true, withFileTypes: true })) {
    if (!file.isFile()) continue
    const from = join(file.parentPath, file.name)
    const to = join(folder, rename(relative(template, from), name))
    await mkdir(join(to, '..'), { recursive: true })
    await writeFile(to, rename(await readFile(from, 'utf8'), name))
  }
  await writeFile(join(folder, 'package.json'), await describePackage(name, folder))
  await writeFile(join(folder, 'tsconfig.json'), await readFile(join(root, 'examples', 'tsconfig.json'), 'utf8'))
  process.stdout.write(`wrote ${folder}

Name it in the configuration:   extensions = ["${folder}"]
or in the environment:          LATCHKEY_EXTENSIONS=${folder}
Check its types, and test it:   cd ${name} && npm install && npm run check && npm test
`)
}

/** A name without a plural "s" gets "Item" in the singular, so that the two stay different identifiers. */
function rename(text: string, plural: string): string {
  const stem = plural.endsWith('s') ? plural.slice(0, -1) : plural
  const singular = stem === plural ? `${stem}Item` : stem
  return text
    .replaceAll('NOTES', plural.toUpperCase())
    .replaceAll('Notes', capitalise(plural))
    .replaceAll('notes', plural)
    .replaceAll('NOTE', stem.toUpperCase())
    .replaceAll(/Note(?!s)/g, capitalise(singular))
    .replaceAll(/note(?!s)/g, singular)
}

function capitalise(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1)
}

async function describePackage(name: string, folder: string): Promise<string> {
  const { dependencies, devDependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as Record<
    'dependencies' | 'devDependencies',
    Record<string, string>
  >
  const isForTypes = (name: string) =>
    ['typescript', 'typebox'].includes(name) ||
    (name.startsWith('@types/') && name.slice('@types/'.length) in dependencies)
  const description = {
    name,
    private: true,
    type: 'module',
    exports: './index.ts',
    scripts: { test: 'TEST_ONLY_SQLITE=1 node --test', check: 'tsc' },
    devDependencies: {
      // A link, so that the extension is checked and tested with the program that will load it.
      latchkey: `file:${relative(folder, root)}`,
      // Pins the Node that the service runs on; npm scripts find it before the machine's own.
      node: dependencies.node,
      // Latchkey's types refer to them, and the program may be installed without its development dependencies.
      ...Object.fromEntries(Object.entries(devDependencies).filter(([name]) => isForTypes(name))),
    },
    // Of the packages above, only Node needs its install script.
    allowScripts: { node: true },
  }
  return `${JSON.stringify(description, undefined, 2)}\n`
}
