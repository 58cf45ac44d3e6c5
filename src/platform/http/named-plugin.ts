import type { FastifyInstance, FastifyPluginCallback } from 'fastify'

/** Fastify looks for the name of a plugin without one in all loaded modules, which takes ten milliseconds each time. */
export function namedPlugin<Plugin extends (app: FastifyInstance, options: never) => Promise<void>>(
  name: string,
  plugin: Plugin,
): Plugin {
  return Object.assign(plugin, { [Symbol.for('fastify.display-name')]: name })
}

/** A plugin for the instance itself, without the check of Fastify's version, which loads a parser of version ranges. */
export function unchecked(name: string, plugin: FastifyPluginCallback): FastifyPluginCallback {
  const same: FastifyPluginCallback = (app, options, done) => plugin(app, options, done)
  return Object.assign(same, { [Symbol.for('fastify.display-name')]: name, [Symbol.for('skip-override')]: true })
}

const owner: unique symbol = Symbol('the feature that adds routes here')

declare module 'fastify' {
  interface FastifyInstance {
    [owner]?: string
  }
}

/** For a feature's plugin. Plugins inside it inherit the mark. */
export function markRoutes(app: FastifyInstance, feature: string): void {
  app[owner] = feature
}

/** The feature that adds routes to this instance, if it is not the service itself. */
export function ownerOf(app: FastifyInstance): string | undefined {
  return app[owner]
}
