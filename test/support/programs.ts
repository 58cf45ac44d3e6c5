/** Programs that the tests need: finds and installs them. */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Installs packages on Debian as root; elsewhere the user has to install them. */
export function installPackages(packages: readonly string[]): void {
  if (packages.length === 0) return
  if (process.getuid?.() !== 0 || !findProgram('apt-get')) return
  process.stderr.write(`installing ${packages.join(' and ')} for the tests…\n`)
  // RUNLEVEL=1 keeps Debian from starting servers as services of the machine.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
  const options = { env, stdio: ['ignore', 'ignore', 'inherit'] as ['ignore', 'ignore', 'inherit'] }
  execFileSync('apt-get', ['update', '-qq'], options)
  execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], options)
}

/** What the tests in test/programs/ run, with the Debian package that has it. */
const packages = {
  bash: 'bash',
  caddy: 'caddy',
  curl: 'curl',
  haproxy: 'haproxy',
  nginx: 'nginx',
  openssl: 'openssl',
  promtool: 'prometheus',
  python3: 'python3',
  script: 'bsdutils',
  'systemd-analyze': 'systemd',
  zsh: 'zsh',
}

/** Called before a run with such tests: parallel tests would block each other's installs. */
export function installTestPrograms(): void {
  installPackages(Object.entries(packages).flatMap(([name, owner]) => (findProgram(name) ? [] : [owner])))
}

export function getProgram(name: keyof typeof packages): string {
  const found = findProgram(name)
  if (!found) throw new Error(`the tests need ${name}: install it ("apt-get install ${packages[name]}")`)
  return found
}

/** The first of these programs that is on the path. */
export function findProgram(...names: string[]): string | undefined {
  return names.flatMap((name) => pathFolders().map((folder) => join(folder, name))).find((path) => existsSync(path))
}

export function pathFolders(): string[] {
  // Servers are in /usr/sbin, which is not on the path of every user.
  return [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']
}
