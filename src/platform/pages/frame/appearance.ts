/** How the console looks in this browser: its theme, and how close the lines are. Kept in a cookie, so that it needs no scripts. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { OrEmpty } from '../../validation/body-validation.ts'
import { Type } from '../../validation/schema-builder.ts'
import type { Cookies } from '../cookies.ts'
import { placeOf } from '../next-page.ts'
import { type Theme, themeNamed } from './theme.ts'

export const densities = ['comfortable', 'compact'] as const

export interface Appearance {
  theme: Theme
  density: (typeof densities)[number]
}

export const defaultAppearance: Appearance = { theme: 'system', density: 'comfortable' }

/** The cookie can hold anything; what is unknown counts as the default. */
export function appearanceOf(request: FastifyRequest, cookies: Pick<Cookies, 'appearance'>): Appearance {
  const [theme, density] = cookies.appearance(request)?.split(' ') ?? []
  return choose({ theme, density }, defaultAppearance)
}

function choose(wanted: { theme: string | undefined; density: string | undefined }, others: Appearance): Appearance {
  return {
    theme: themeNamed(wanted.theme) ?? others.theme,
    density: densities.find((density) => density === wanted.density) ?? others.density,
  }
}

export function addAppearance(app: FastifyInstance, cookies: Pick<Cookies, 'appearance' | 'setAppearance'>): void {
  const body = Type.Object({ theme: OrEmpty, density: OrEmpty, next: OrEmpty })
  app.post(
    '/appearance',
    { config: { access: 'authenticated', docs: false }, schema: { body } },
    async (request, reply) => {
      const { theme, density } = choose(request.body, appearanceOf(request, cookies))
      cookies.setAppearance(reply, `${theme} ${density}`)
      return reply.redirect(placeOf(request.body.next), 303)
    },
  )
}
