import DataLoader from 'dataloader'
import type { Context, Field } from './elements.ts'

type Load = NonNullable<Field['load']>

/** One loader per response: cached values must not leak to another client. */
export function createFieldLoader(load: Load): (source: unknown, args: unknown, context: Context) => Promise<unknown> {
  const loaders = new WeakMap<Context, DataLoader<unknown, unknown>>()
  return (source, _args, context) => {
    let loader = loaders.get(context)
    if (!loader) {
      loader = new DataLoader((sources) => load(sources as never, context) as Promise<ArrayLike<unknown>>)
      loaders.set(context, loader)
    }
    return loader.load(source)
  }
}
