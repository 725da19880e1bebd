import { isJson, type Json } from '../../../src/platform/http/json-schema.ts'
import { propertiesOf, resolve, sampleValue } from './sample-value.ts'

/** A field that names an object: its name, its schema, and how to reach it from the root. */
export type IdField = { name: string; schema: Json; steps: readonly Step[] }
type Step = { property: string } | { item: true } | { choice: number }

/**
 * Names of fields with the id or the name of an object, besides `id`, `ids`, `…_id` and `…_ids`.
 */
const namingFields = new Set([
  ...['assign_to', 'assignee', 'base', 'head', 'with', 'channel', 'channels', 'notify', 'fallback'],
  ...['cursor_of', 'from_run', 'to_run', 'rules', 'rule', 'run', 'user', 'organization'],
])

/** Returns the fields of a body or query that name an object, also nested ones. */
export function idFields(root: Json): IdField[] {
  return fieldsIn(root, root, [], 'body')
}

/** Returns all fields of a body or query, objects and lists too, up to a few levels. */
export function allFields(root: Json): IdField[] {
  return everyFieldIn(root, root, [], 'body')
}

/** Steps from the root to the deepest field of `allFields`. */
const maxEveryDepth = 6

function everyFieldIn(schema: Json, root: Json, steps: readonly Step[], name: string): IdField[] {
  const found = resolve(schema, root)
  const own = { name, schema: found, steps }
  if (steps.length >= maxEveryDepth) return [own]
  const inProperties = Object.entries(propertiesOf(found)).flatMap(([property, inner]) =>
    everyFieldIn(inner, root, [...steps, { property }], property),
  )
  const { items } = found
  const inItems = isJson(items) ? everyFieldIn(items, root, [...steps, { item: true }], name) : []
  const inChoices = choicesOf(found).flatMap((inner, choice) =>
    everyFieldIn(inner, root, [...steps, { choice }], name),
  )
  const isChoice = 'choice' in (steps.at(-1) ?? {})
  return [...(isChoice ? [] : [own]), ...inProperties, ...inItems, ...inChoices]
}

/** Steps from the root to the deepest field. */
const depth_max = 10

function fieldsIn(schema: Json, root: Json, steps: readonly Step[], name: string): IdField[] {
  const found = resolve(schema, root)
  const { type } = found
  const isText = (Array.isArray(type) ? type : [type]).includes('string')
  if (isText)
    return isIdName(name) || found['format'] === 'uuid' ? [{ name, schema: found, steps }] : []
  if (steps.length >= depth_max) return []
  const inProperties = Object.entries(propertiesOf(found)).flatMap(([property, inner]) =>
    fieldsIn(inner, root, [...steps, { property }], property),
  )
  const { items } = found
  const inItems = isJson(items) ? fieldsIn(items, root, [...steps, { item: true }], name) : []
  const inChoices = choicesOf(found).flatMap((inner, choice) =>
    fieldsIn(inner, root, [...steps, { choice }], name),
  )
  return [...inProperties, ...inItems, ...inChoices]
}

function isIdName(name: string): boolean {
  return /(^|_)ids?$/.test(name) || namingFields.has(name)
}

function choicesOf(schema: Json): Json[] {
  const choices = schema['anyOf'] ?? schema['oneOf'] ?? schema['allOf']
  return Array.isArray(choices) ? choices.filter(isJson) : []
}

/** Returns a value of the schema in which the field has the given value. */
export function sampleWith(root: Json, { steps }: IdField, value: unknown): unknown {
  return build(root, root, steps, value)
}

function build(schema: Json, root: Json, steps: readonly Step[], value: unknown): unknown {
  const [step, ...rest] = steps
  if (step === undefined) return value
  const found = resolve(schema, root)
  if ('choice' in step) return build(choicesOf(found)[step.choice] ?? {}, root, rest, value)
  if ('item' in step) {
    return [build(isJson(found['items']) ? found['items'] : {}, root, rest, value)]
  }
  const inner = build(propertiesOf(found)[step.property] ?? {}, root, rest, value)
  const sample = sampleValue(found, root)
  return { ...(isJson(sample) ? sample : {}), [step.property]: inner }
}

/** Describes where a field is: `/rules/0/channel_id`. */
export function pointerOf({ steps }: IdField): string {
  return steps
    .flatMap((step) => ('property' in step ? [step.property] : 'item' in step ? ['0'] : []))
    .map((part) => `/${part}`)
    .join('')
}
