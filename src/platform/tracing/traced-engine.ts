/** A GraphQL engine whose operations are spans: https://opentelemetry.io/docs/specs/semconv/graphql/graphql-spans/ */
import type { Engine, Prepared } from '../graphql/execution/engine.types.ts'
import type { SpanOptions, Tracing } from './tracing.ts'

/** Clients choose the names. */
const maxName = 100

export function traceEngine(engine: Engine, tracing: Tracing): Engine {
  return {
    ...engine,
    execute: (prepared, context) =>
      tracing.span(describe(prepared), async (span) => {
        const response = await engine.execute(prepared, context)
        if (!response.hasData) span.fail('no_data')
        return response
      }),
    // The span ends when the subscription is open. Values are spans of the bus.
    subscribe: (prepared, context, subscriber) =>
      tracing.span(describe(prepared), () => engine.subscribe(prepared, context, subscriber)),
  }
}

/** Not named after the operation, because names of clients have no limit. */
function describe({ kind, document, operationName }: Prepared): SpanOptions {
  const name = operationName ?? document.getOperation(undefined).node.name?.value
  return {
    name: kind,
    kind: 'server',
    attributes: {
      'graphql.operation.type': kind,
      ...(name !== undefined && { 'graphql.operation.name': name.slice(0, maxName) }),
    },
  }
}
