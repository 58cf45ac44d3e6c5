/** The theme that was chosen in the console, for pages outside of it too. */
import { fastifyCookie } from '@fastify/cookie'
import type { FastifyRequest } from 'fastify'
import { cookieName } from '../cookies.ts'

export const themes = ['light', 'dark', 'system'] as const

export type Theme = (typeof themes)[number]
export type ReadTheme = (request: FastifyRequest) => Theme

/** Parses the header itself, because only the console parses cookies. */
export function createThemeReader(publicUrl: string | undefined): ReadTheme {
  const name = cookieName('appearance', isHttps(publicUrl))
  return ({ headers: { cookie = '' } }) => themeNamed(fastifyCookie.parse(cookie)[name]?.split(' ')[0]) ?? 'system'
}

export function themeNamed(name: string | undefined): Theme | undefined {
  return themes.find((theme) => theme === name)
}

function isHttps(publicUrl: string | undefined): boolean {
  return publicUrl?.startsWith('https:') ?? false
}
