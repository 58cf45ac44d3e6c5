import type { FastifyInstance } from 'fastify'

/** Fastify looks for the name of a plugin without one in all loaded modules, which takes ten milliseconds each time. */
export function namedPlugin<Plugin extends (app: FastifyInstance, options: never) => Promise<void>>(
  name: string,
  plugin: Plugin,
): Plugin {
  return Object.assign(plugin, { [Symbol.for('fastify.display-name')]: name })
}
