/** The files in deploy/ and the Dockerfile fit each other, the configuration and the programs that read them. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { parse, parseAllDocuments } from 'yaml'
import { configParts } from '../../src/app/declarations.ts'
import { withOwnFeatures } from '../../src/app/features.ts'
import { loadConfig } from '../../src/app/load-config.ts'
import { coreKeys } from '../../src/config/core-keys.ts'
import { isKey, leavesOf } from '../../src/config/key.ts'
import { root } from '../../src/config/root.ts'
import { stopTimesOf } from '../../src/platform/process/stop-times.ts'
import { temporaryFolder } from '../support/databases.ts'
import { temporaryPaths } from '../support/load-balancer.ts'
import { getProgram } from '../support/programs.ts'

type Environment = Record<string, string>

interface Container {
  image: string
  build?: object
  environment?: Environment
  secrets?: string[]
  read_only?: boolean
  cap_drop?: string[]
  security_opt?: string[]
  stop_grace_period?: string
  healthcheck?: object
  volumes?: string[]
  depends_on?: Record<string, { condition: string }>
}

interface Compose {
  services: Record<string, Container>
  volumes: object
  secrets: Record<string, { file: string }>
}

const read = (...path: string[]) => readFileSync(join(root, ...path), 'utf8')
const compose: Compose = parse(read('deploy', 'compose.yaml'), { merge: true })
const nodes = Object.values(compose.services).filter(({ build }) => build)
const dockerfile = read('Dockerfile')

// biome-ignore lint/suspicious/noExplicitAny: the tests look into resources of every shape
const resources: any[] = parseAllDocuments(read('deploy', 'kubernetes.yaml')).map((each) => each.toJS())
const resource = (kind: string) => resources.find((each) => each.kind === kind)
const pod = resource('Deployment').spec.template.spec
const [container] = pod.containers
const podEnvironment: Environment = Object.fromEntries(
  container.env.map(({ name, value }: { name: string; value: string }) => [name, value]),
)

const drainSeconds = 3
const shipped = loadConfig({ directory: join(root, 'config'), environment: {}, forService: false })

/** Of the shipped configuration, in production. Secrets are read from `folder`. */
function loadWith(environment: Environment, folder: string) {
  const local = Object.entries(environment).map(([name, value]) => [
    name,
    name.endsWith('_FILE') ? join(folder, value.split('/').at(-1) ?? '') : value.replaceAll(/\$\{\w+:-(\w+)\}/g, '$1'),
  ])
  return loadConfig({
    directory: join(root, 'config'),
    environment: { NODE_ENV: 'production', ...Object.fromEntries(local) },
    forService: true,
  })
}

function makeSecrets(t: TestContext): string {
  const folder = join(temporaryFolder(t), 'secrets')
  execFileSync(join(root, 'deploy', 'make-secrets'), [folder])
  return folder
}

test('secrets are made once, differ, and stay as they are', (t) => {
  const folder = makeSecrets(t)
  const contents = () => Object.keys(compose.secrets).map((name) => readFileSync(join(folder, name), 'utf8'))
  const first = contents()
  assert.equal(new Set(first).size, first.length)
  assert.ok(first.every((text) => text.trim().length >= 64))
  execFileSync(join(root, 'deploy', 'make-secrets'), [folder])
  assert.deepEqual(contents(), first)
  assert.equal(statSync(folder).mode & 0o777, 0o700, 'nobody else on the machine reads them')
  for (const [name, { file }] of Object.entries(compose.secrets)) assert.equal(file, `./secrets/${name}`)
})

for (const [where, environments] of [
  ['compose.yaml', nodes.map(({ environment = {} }) => environment)],
  ['kubernetes.yaml', [podEnvironment]],
] as const) {
  test(`${where}: the nodes start with these variables, which all exist`, (t) => {
    assert.ok(environments.length > 0)
    const known = new Map(
      [coreKeys, ...configParts(withOwnFeatures([])).map(({ keys = {} }) => keys)]
        .flatMap(leavesOf)
        .filter((key) => isKey(key))
        .map((key) => [key.variable, key]),
    )
    const folder = makeSecrets(t)
    for (const environment of environments) {
      for (const name of Object.keys(environment)) {
        const key = known.get(name) ?? known.get(name.replace(/_FILE$/, ''))
        assert.ok(key && (key.variable === name || key.isSecret), name)
      }
      const config = loadWith(environment, folder)
      assert.match(config.database.url, /^postgres:\/\/latchkey:[0-9a-f]{64}@postgres\/latchkey$/)
      assert.equal(config.graphql.pubsub, 'redis')
      assert.match(config.server.publicUrl ?? '', /^https:/)
      assert.equal(config.server.drainSeconds, drainSeconds)
      assert.ok(config.server.metricsToken && config.auth.appKey)
    }
  })
}

test('compose.yaml: every container is confined, checked, and has the secrets and volumes that it names', () => {
  assert.equal(nodes.length, 2)
  for (const [name, service] of Object.entries(compose.services)) {
    assert.equal(service.read_only, true, name)
    assert.deepEqual(service.cap_drop, ['ALL'], name)
    assert.deepEqual(service.security_opt, ['no-new-privileges:true'], name)
    for (const file of Object.entries(service.environment ?? {})
      .filter(([variable]) => variable.endsWith('_FILE'))
      .map(([, path]) => path.replace('/run/secrets/', ''))) {
      assert.ok(service.secrets?.includes(file), `${name}: ${file}`)
    }
    for (const secret of service.secrets ?? []) assert.ok(secret in compose.secrets, secret)
    for (const volume of service.volumes ?? []) {
      const [source = ''] = volume.split(':')
      assert.ok(source.startsWith('./') ? existsSync(join(root, 'deploy', source)) : source in compose.volumes, source)
    }
    for (const [needed, { condition }] of Object.entries(service.depends_on ?? {})) {
      const { healthcheck, build } = compose.services[needed] as Container
      assert.equal(condition, 'service_healthy')
      assert.ok(healthcheck ?? (build && /^HEALTHCHECK /m.test(dockerfile)), `${needed} can be healthy`)
    }
  }
  assert.doesNotMatch(read('deploy', 'compose.yaml'), /[0-9a-f]{32}/, 'no secret is in the file')
})

test('whoever stops a node waits for as long as a stop takes', () => {
  const seconds = stopTimesOf(drainSeconds).totalMs / 1000
  for (const { stop_grace_period: grace = '' } of nodes) assert.ok(Number.parseInt(grace, 10) > seconds, grace)
  assert.ok(pod.terminationGracePeriodSeconds > seconds)
  const [, unit] = /^TimeoutStopSec=(\d+)$/m.exec(read('deploy', 'latchkey.service')) ?? []
  assert.ok(Number(unit) > seconds)
})

test('kubernetes.yaml: confined, probed on the paths of the service, and joined by name', () => {
  const labels = resource('Deployment').spec.template.metadata.labels
  for (const kind of ['Deployment', 'PodDisruptionBudget']) {
    assert.deepEqual(resource(kind).spec.selector.matchLabels, labels, kind)
  }
  assert.deepEqual(resource('Service').spec.selector, labels)
  assert.deepEqual(container.securityContext, {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  })
  assert.equal(pod.securityContext.runAsNonRoot, true)
  assert.match(dockerfile, new RegExp(`^USER ${pod.securityContext.runAsUser}:${pod.securityContext.runAsGroup}$`, 'm'))
  const { port, targetPort } = resource('Service').spec.ports[0]
  assert.deepEqual([port, targetPort], [80, container.ports[0].name])
  assert.equal(container.ports[0].containerPort, shipped.server.port)
  const paths = ['startupProbe', 'livenessProbe', 'readinessProbe'].map((probe) => container[probe].httpGet.path)
  assert.deepEqual(paths, ['/health/live', '/health/live', '/health/ready'])
  const mounted = pod.volumes[0].secret.items.map(({ path }: { path: string }) => `/run/secrets/latchkey/${path}`)
  const named = Object.entries(podEnvironment).flatMap(([name, value]) => (name.endsWith('_FILE') ? [value] : []))
  assert.deepEqual(named.sort(), mounted.sort())
  assert.equal(container.volumeMounts[0].mountPath, '/run/secrets/latchkey')
  const { backend } = resource('Ingress').spec.rules[0].http.paths[0]
  assert.equal(backend.service.name, resource('Service').metadata.name)
})

test('the Dockerfile copies what there is, exposes the ports, and .dockerignore lets through what it copies', () => {
  const own = dockerfile.matchAll(/^COPY (?!--)(.+) \S+$/gm)
  const copied = [...own].flatMap(([, paths = '']) => paths.split(' '))
  assert.deepEqual(copied, ['package.json', 'package-lock.json', 'bin', 'config', 'src', 'deploy/image'])
  const lines = read('.dockerignore').trim().split('\n')
  assert.equal(lines[0], '*', 'nothing comes in that is not named')
  for (const path of copied) {
    assert.ok(existsSync(join(root, path)), path)
    assert.ok(lines.includes(`!${path}`), path)
  }
  const { server, graphql } = shipped
  assert.match(dockerfile, new RegExp(`^EXPOSE ${server.port} ${graphql.wsPort}$`, 'm'))
  for (const [, script = ''] of dockerfile.matchAll(/node (deploy\/\S+)/g)) assert.ok(existsSync(join(root, script)))
  for (const proxy of ['Caddyfile', 'nginx.conf', 'haproxy.cfg']) {
    const ports = [...read('deploy', proxy).matchAll(/(?:node-\d|\d\.\d+):(\d+)/g)].map(([, port]) => Number(port))
    assert.deepEqual(ports, [server.port, server.port], proxy)
  }
})

/** With a certificate in place of the operator's, and addresses that can be listened on. */
function localConfig(t: TestContext, name: string): { folder: string; text: string } {
  const folder = temporaryFolder(t)
  const [key, certificate] = [join(folder, 'latchkey.key'), join(folder, 'latchkey.crt')]
  const subject = ['-subj', '/CN=api.example.com', '-newkey', 'rsa:2048', '-keyout', key, '-out', certificate]
  execFileSync(getProgram('openssl'), ['req', '-x509', '-nodes', ...subject], { stdio: 'ignore' })
  writeFileSync(join(folder, 'latchkey.pem'), readFileSync(certificate, 'utf8') + readFileSync(key, 'utf8'))
  return { folder, text: read('deploy', name).replaceAll('/etc/ssl/', `${folder}/`) }
}

function assertAccepted(program: string, args: string[]): void {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' })
  assert.equal(status, 0, stdout + stderr)
  assert.doesNotMatch(stdout + stderr, /\bwarn/i)
}

test('nginx accepts nginx.conf without a warning', (t) => {
  const { folder, text } = localConfig(t, 'nginx.conf')
  mkdirSync(join(folder, 'logs'))
  // Nginx opens what it listens on, and the port takes an administrator.
  const local = text.replace('listen 443 ssl;', `listen unix:${folder}/nginx.sock ssl;`)
  assert.notEqual(local, text)
  writeFileSync(join(folder, 'site.conf'), local)
  const whole = `pid ${folder}/pid; error_log stderr; events {} http { access_log off; ${temporaryPaths(folder)} include site.conf; }`
  writeFileSync(join(folder, 'nginx.conf'), whole)
  assertAccepted(getProgram('nginx'), ['-t', '-q', '-e', 'stderr', '-p', folder, '-c', join(folder, 'nginx.conf')])
})

test('HAProxy accepts haproxy.cfg without a warning', (t) => {
  const { folder, text } = localConfig(t, 'haproxy.cfg')
  writeFileSync(join(folder, 'haproxy.cfg'), text)
  assertAccepted(getProgram('haproxy'), ['-c', '-f', join(folder, 'haproxy.cfg')])
})

test('Caddy accepts the Caddyfile, and checks readiness each second', () => {
  const args = ['adapt', '--validate', '--adapter', 'caddyfile', '--config', join(root, 'deploy', 'Caddyfile')]
  const { status, stdout, stderr } = spawnSync(getProgram('caddy'), args, { encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  assert.match(stdout, /"active":\{"interval":1000000000,"timeout":5000000000,"uri":"\/health\/ready"\}/)
  assert.match(stdout, /"upstreams":\[\{"dial":"node-1:3000"\},\{"dial":"node-2:3000"\}\]/)
})

test('the nodes of Compose keep backups in a volume that their user can write', () => {
  for (const { environment, volumes } of nodes) {
    const { BACKUP_FOLDER, BACKUP_EVERY } = environment ?? {}
    assert.ok(BACKUP_FOLDER && BACKUP_EVERY)
    assert.ok(volumes?.includes(`backups:${BACKUP_FOLDER}`))
    // A new volume gets the owner of the folder in the image.
    const name = BACKUP_FOLDER.split('/').at(-1)
    assert.match(dockerfile, new RegExp(`^COPY .*--chown=node:node /srv/latchkey/${name} ${name}$`, 'm'))
  }
})

test('the pod has as many threads as its memory is enough for, whatever the machine has', () => {
  // With one thread, and for each further one, under load; npm run bench memory.
  const [first, further] = [250, 110]
  const threads = Number(podEnvironment.THREADS)
  assert.ok(threads >= 1, 'the number of threads is set')
  const limit = Number.parseInt(container.resources.limits.memory, 10) * 1024
  assert.match(container.resources.limits.memory, /^\d+Gi$/)
  assert.ok(first + further * (threads - 1) < limit / 2, `${limit} MB`)
})
