import { serviceTag as tag } from '../openapi/build.ts'
import { type RouteDocs, response } from '../openapi/route-docs.ts'
import { Type } from '../validation/schema-builder.ts'
import { httpErrors } from './http-errors.ts'

const Health = Type.Object({ status: Type.Literal('ok') }, { title: 'Health' })
const Readiness = Type.Object(
  { status: Type.Literal('ok'), degraded: Type.Optional(Type.Array(Type.String())) },
  { title: 'Readiness' },
)

export const docs = {
  live: {
    tag,
    operationId: 'checkLive',
    summary: 'Is it alive?',
    description: 'Answers as long as the process does. It is never refused for load.',
    responses: { 200: response(Health, { status: 'ok' }) },
  },
  ready: {
    tag,
    operationId: 'checkReady',
    summary: 'Is it ready?',
    description:
      '503 where the database does not take writes. `degraded` names what is away and the service goes on without: `redis`, `notifications` (between nodes, over PostgreSQL), or `database` where parts of its file are damaged or its disk is all but full.',
    responses: { 200: response(Readiness, { status: 'ok', degraded: ['redis'] }) },
  },
  metrics: {
    tag,
    operationId: 'getMetrics',
    summary: 'Figures for Prometheus',
    access: 'this machine alone and in development; where `server.metrics_token` is set, whoever bears that token',
    responses: {
      200: response(Type.String(), 'http_request_duration_seconds_count{method="GET",route="/me",status="200"} 42\n', {
        type: 'text/plain',
      }),
    },
    errors: [httpErrors.missingToken(), httpErrors.invalidToken(), httpErrors.forbidden()],
  },
} satisfies Record<string, RouteDocs>
