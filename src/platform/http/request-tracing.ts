/**
 * Joins requests to traces. Their log lines get the trace id of the `traceparent` header; with OpenTelemetry each request is
 * a span too: https://opentelemetry.io/docs/specs/semconv/http/http-spans/
 */
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { parseTraceparent, type TraceContext } from '../tracing/trace-context.ts'
import type { Span, Tracing } from '../tracing/tracing.ts'
import { recordedPathOf } from './request-path.ts'

export interface RequestTracing {
  /** Call once per request, when it arrives. Returns fields for its log lines. */
  begin(request: IncomingMessage): object | undefined
  /** Call when the response is ready. */
  end(request: FastifyRequest, status: number): void
  /** Call after the hook that admits requests. */
  addHooks(app: FastifyInstance): void
}

export function createRequestTracing(tracing: Tracing | undefined): RequestTracing {
  return tracing ? createSpans(tracing) : withoutSpans
}

function parentOf({ headers }: IncomingMessage): TraceContext | undefined {
  return headers.traceparent === undefined ? undefined : parseTraceparent(headers.traceparent, headers.tracestate)
}

const withoutSpans: RequestTracing = {
  begin(request) {
    const parent = parentOf(request)
    return parent && { trace_id: parent.traceId }
  },
  end() {},
  addHooks() {},
}

const knownMethods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'QUERY', 'TRACE', 'CONNECT']
/** Probes and scrapes come every few seconds and say nothing. */
const untraced = /^\/(?:health\/|metrics)/

function createSpans(tracing: Tracing): RequestTracing {
  const spans = new WeakMap<IncomingMessage, Span>()

  return {
    begin(request) {
      const { method = '', url = '' } = request
      if (untraced.test(url)) return withoutSpans.begin(request)
      const isKnown = knownMethods.includes(method)
      const span = tracing.start({
        name: isKnown ? method : 'HTTP',
        kind: 'server',
        parent: parentOf(request),
        attributes: {
          'http.request.method': isKnown ? method : '_OTHER',
          'url.path': recordedPathOf(url),
          'url.scheme': 'http',
          'network.protocol.version': request.httpVersion,
        },
      })
      spans.set(request, span)
      return { trace_id: span.context.traceId, span_id: span.context.spanId }
    },

    end(request, status) {
      const span = spans.get(request.raw)
      if (!span) return
      const route = request.routeOptions.config.pattern
      if (route !== undefined) {
        span.rename(`${request.method} ${route}`)
        span.set({ 'http.route': route })
      }
      span.set({ 'http.response.status_code': status, 'url.scheme': request.protocol })
      if (status >= 500) span.fail(String(status))
      span.end()
    },

    addHooks(app) {
      const enter = (request: FastifyRequest, _reply: unknown, next: () => void) => {
        const span = spans.get(request.raw)
        if (span) tracing.run(span, next)
        else next()
      }
      app.addHook('onRequest', enter)
      // Bodies are read by listeners, which are called outside of the request's context.
      app.addHook('preValidation', enter)
    },
  }
}
