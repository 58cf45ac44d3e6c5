/** The fields of a collection as plain data, for the thread that reads an uploaded file. */
import type { DescribedField } from '../declare/describe.ts'
import type { AnyFieldOptions, FieldDefinition } from '../declare/fields.ts'

export type PlainField = Pick<DescribedField, 'name' | 'kind' | 'definition'> & { target: undefined }

const keptOptions = ['optional', 'default', 'min', 'max', 'scale', 'multiline', 'label'] as const
const maxSamples = 6

/** Without rules, which the thread does not check. */
export function toPlainField({ name, kind, definition }: DescribedField): PlainField {
  return { name, kind, definition: toPlainDefinition(definition), target: undefined }
}

function toPlainDefinition({ kind, options, values, item }: FieldDefinition): FieldDefinition {
  const kept = keptOptions.filter((option) => options[option] !== undefined)
  return {
    kind,
    options: Object.fromEntries(kept.map((option) => [option, options[option]])) as AnyFieldOptions,
    ...(values && { values }),
    ...(item && { item: toPlainDefinition(item) }),
  }
}

/** Whether a file must have a column for it. */
export function isRequired({ kind, definition: { options } }: Pick<DescribedField, 'kind' | 'definition'>): boolean {
  return kind !== 'list' && !options.optional && options.default === undefined
}

/** The fields that a preview shows. */
export const samplesOf = <Field extends Pick<DescribedField, 'definition'>>(
  fields: readonly Field[],
): readonly Field[] => fields.filter(({ definition }) => !definition.options.multiline).slice(0, maxSamples)
