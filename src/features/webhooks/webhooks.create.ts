import { readVersion } from '../../config/version.ts'
import { createAlarm } from '../../core/alarm.ts'
import { createWakeUps } from '../../platform/bus/wake-ups.ts'
import { createConsumerStore } from '../../platform/changes/consumers.store.ts'
import type { Infrastructure } from '../../platform/infrastructure.ts'
import { createOutbound } from '../../platform/outbound/outbound.ts'
import { compileBody, requireValid } from '../../platform/validation/body-validation.ts'
import type { UsersService } from '../users/users.create.ts'
import { wakeOnAccountEvents } from './account-events.ts'
import { createDeliveries } from './deliveries.service.ts'
import { createDeliveryStore } from './deliveries.store.ts'
import { startDispatcher } from './dispatcher.ts'
import type { ListedConsumer } from './pages/webhooks.views.ts'
import { reEncryptSecrets } from './re-encrypt.ts'
import { createSender } from './sender.ts'
import { findWebhookLag } from './webhook-lag.ts'
import { addAttemptCounter, addWebhookGauges } from './webhook-metrics.ts'
import { createWebhookPermissions } from './webhook-permissions.ts'
import { allowsPrivate, type WebhooksConfig } from './webhooks.keys.ts'
import { createWebhookSchemas } from './webhooks.schema.ts'
import { createWebhooks, type NewWebhookBody } from './webhooks.service.ts'
import { createWebhookStore, leaseName, type WebhookEdit } from './webhooks.store.ts'

export type WebhooksService = Awaited<ReturnType<typeof createWebhooksService>>

export async function createWebhooksService(
  infrastructure: Infrastructure<WebhooksConfig>,
  { users }: { users: UsersService },
) {
  const { config, db, clock, random, log, audit, changes, counts, secrets, metrics, nodeBus } = infrastructure
  const { encryption } = secrets
  const store = createWebhookStore(db)
  const deliveries = createDeliveryStore(db)
  const permissions = createWebhookPermissions({ topics: changes.topics, users })
  const consumers = createConsumerStore(db)
  const allowPrivate = allowsPrivate(config)
  const outbound = createOutbound({ allowPrivate })
  infrastructure.onClose(async () => outbound.close())
  const send = createSender({ outbound, encryption, clock, log, version: readVersion() })
  wakeOnAccountEvents(audit, changes)
  const alarm = createAlarm()
  const { wake, close } = await createWakeUps({ bus: nodeBus, topic: 'webhooks', log, onWake: alarm.ring })
  infrastructure.onClose(async () => close())
  const schemas = createWebhookSchemas({ allowPrivate, knownTypes: changes.topics.types })
  const validateNew = compileBody(schemas.NewWebhook)
  const validateEdit = compileBody(schemas.WebhookEdit)

  return {
    webhooks: createWebhooks({ db, clock, random, store, audit, encryption, changes, counts, permissions, wake }),
    deliveries: createDeliveries({ db, clock, random, store, deliveries, changes, permissions, send, wake }),
    schemas,
    /** For forms. Both throw the problems, by field. */
    validateNew: (given: object) => requireValid<NewWebhookBody>(validateNew, given),
    validateEdit: (given: object) => requireValid<WebhookEdit>(validateEdit, given),
    allowPrivate,
    permissions,

    countByState: store.countByState,
    findLagSeconds: () => findWebhookLag({ store, changes: changes.store, clock }),

    /** The durable listeners, for the console. */
    async listConsumers(): Promise<ListedConsumer[]> {
      const listed = (await consumers.list()).filter(({ name }) => name !== leaseName)
      return Promise.all(
        listed.map(async ({ name, position, held_until }) => ({
          name,
          behindSince: (await changes.store.timeAfter(position)) ?? null,
          isRunning: held_until > clock.now(),
        })),
      )
    },

    startDelivering() {
      const dispatcher = startDispatcher({
        db,
        clock,
        log,
        audit,
        changes,
        permissions,
        store,
        deliveries,
        consumers,
        send,
        alarm,
        wake,
        holder: random.id(),
        onAttempt: addAttemptCounter(metrics),
        prepare: () => reEncryptSecrets({ db, store, encryption, log }),
      })
      if (metrics) addWebhookGauges(metrics, dispatcher, store)
      return dispatcher
    },
  }
}
