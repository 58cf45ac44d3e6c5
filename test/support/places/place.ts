/** A page of the console in one of its states, and how somebody comes there. */
import type { Page } from 'playwright-core'
import type { ConsoleGround, Kind } from '../console-ground.ts'
import { sees } from '../console-visits.ts'

export interface Place {
  name: string
  as: Kind
  open(page: Page, ground: ConsoleGround): Promise<void>
}

/** A page that its address alone leads to. */
export function at(as: Kind, name: string, path: string, heading: string): Place {
  return { name, as, open: (page, { api }) => goTo(page, `${api.url}${path}`, heading) }
}

export async function goTo(page: Page, address: string, heading: string): Promise<void> {
  await page.goto(address)
  await sees(page, heading)
}
