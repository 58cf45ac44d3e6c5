/** Rows as clients of REST and the change log get them. */
import type { Included } from './store/includes.ts'

export interface Resource {
  id: number
  type: string
  attributes: Record<string, unknown>
  included?: Record<string, Resource | null | Resource[]>
}

export function resourceOf({ of, row, included }: Included, fields?: ReadonlySet<string>): Resource {
  const { id, ...values } = row
  const attributes = fields ? Object.fromEntries(Object.entries(values).filter(([name]) => fields.has(name))) : values
  return {
    id,
    type: of.name,
    attributes,
    ...(included && {
      included: Object.fromEntries(
        Object.entries(included).map(([name, given]) => [
          name,
          given === null
            ? null
            : Array.isArray(given)
              ? given.map((each: Included) => resourceOf(each))
              : resourceOf(given as Included),
        ]),
      ),
    }),
  }
}
