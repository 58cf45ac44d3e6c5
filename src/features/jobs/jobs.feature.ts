/** The jobs of features in the console: when each is due, how its last run went, and a run on request. */
import type { FastifyInstance } from 'fastify'
import { principalOf } from '../../platform/access/route-guards.ts'
import { defineFeature } from '../../platform/feature.ts'
import { clientOf } from '../../platform/http/client.ts'
import { httpErrors } from '../../platform/http/http-errors.ts'
import type { Infrastructure } from '../../platform/infrastructure.ts'
import { createJobStore } from '../../platform/jobs/jobs.store.ts'
import type { PageKit } from '../../platform/pages/console-pages.ts'

const path = '/console/jobs'
const mayView = { permission: 'jobs.view' } as const
const mayRun = { permission: 'jobs.run' } as const

type JobsService = ReturnType<typeof createJobsService>

function createJobsService({ db, clock, audit, jobs: declared }: Infrastructure) {
  const store = createJobStore(db)
  return {
    hasJobs: declared.length > 0,
    list: store.list,
    now: clock.nowSeconds,

    /** It runs within a second, on whichever node looks first. */
    async request(name: string, actor: { id: number; client: ReturnType<typeof clientOf> }): Promise<void> {
      const [rows] = await db.write(
        { ...store.request(name, clock.nowSeconds()), decides: true },
        audit.entry({
          event: 'job_requested',
          outcome: 'success',
          userId: null,
          actorId: actor.id,
          changes: { job: { from: null, to: name } },
          client: actor.client,
        }),
      )
      if (!rows?.length) throw httpErrors.notFound()
      audit.count('job_requested', 'success')
    },
  }
}

export const jobs = defineFeature({
  name: 'jobs',
  auditEvents: { job_requested: 'Job run requested' },
  create: createJobsService,
  pages: (service) => ({
    navigation: service.hasJobs
      ? [{ path, name: 'Jobs', icon: 'page', permission: mayView.permission, order: 38 }]
      : [],
    notices: { 'job-requested': 'The job runs within a second.' },
    routes: (kit) => (app) => addJobPages(app, { ...kit, service }),
  }),
})

function addJobPages(app: FastifyInstance, { send, notices, service }: PageKit & { service: JobsService }): void {
  app.get('/jobs', { config: { access: mayView, docs: false } }, async (request, reply) => {
    const { jobsPage } = await import('./jobs.views.ts')
    const canRun = principalOf(request).can(mayRun.permission)
    return send(request, reply, jobsPage(await service.list(), { now: service.now(), canRun, path }))
  })

  app.post<{ Params: { name: string } }>(
    '/jobs/:name/run',
    { config: { access: [mayView, mayRun], audit: 'job_requested', docs: false } },
    async (request, reply) => {
      await service.request(request.params.name, { id: principalOf(request).id, client: clientOf(request) })
      return notices.redirect(reply, { address: path, notice: 'job-requested' })
    },
  )
}
