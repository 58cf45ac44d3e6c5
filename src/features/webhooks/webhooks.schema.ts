import { refuseUrl } from '../../platform/outbound/refuse-url.ts'
import { validationFailed } from '../../platform/validation/body-validation.ts'
import { Type } from '../../platform/validation/schema-builder.ts'
import { type DeliveryStatus, deliveryStatuses, wantsType } from './webhook.ts'

export const maxDescriptionLength = 255
const maxUrlLength = 2000
const maxTypes = 50

export interface SchemaOptions {
  allowPrivate: boolean
  /** All types that features log. Called when a body is validated, after all features are created. */
  knownTypes(): readonly string[]
}

export function createWebhookSchemas({ allowPrivate, knownTypes }: SchemaOptions) {
  const findUrlProblems = (given: string) => {
    const problem = refuseUrl(given, { allowPrivate })
    return problem === undefined ? [] : [problem]
  }
  const findTypeProblems = (given: string) =>
    isType(given) && knownTypes().some((type) => wantsType([given], type))
      ? []
      : ['Must be an event such as product.created or product.*']

  const urlRules = { maxLength: maxUrlLength, 'x-check': findUrlProblems }
  const types = Type.Array(Type.String({ maxLength: 100, 'x-check': findTypeProblems }), {
    minItems: 1,
    maxItems: maxTypes,
  })
  const description = Type.Optional(Type.String({ maxLength: maxDescriptionLength }))
  return {
    NewWebhook: Type.Object({ url: Type.String({ 'x-not-blank': true, ...urlRules }), types, description }),
    WebhookEdit: Type.Object({
      url: Type.Optional(Type.String({ 'x-not-blank': true, ...urlRules })),
      types: Type.Optional(types),
      description,
      enabled: Type.Optional(Type.Boolean()),
    }),
  }
}

function isType(given: string): boolean {
  return given === '*' || /^[a-z0-9_-]+\.(?:\*|[a-z0-9_.-]+)$/.test(given)
}

/** The value of `filter[status]`. Blank counts as absent. */
export function readDeliveryStatus(given: unknown): DeliveryStatus | undefined {
  if (given === undefined || given === '') return undefined
  const status = deliveryStatuses.find((each) => each === given)
  if (status === undefined) {
    throw validationFailed({ 'filter[status]': [`Must be one of ${deliveryStatuses.join(', ')}`] })
  }
  return status
}
