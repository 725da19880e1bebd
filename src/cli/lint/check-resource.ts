import { type Kind, resourceSchemaOf, type StructuralSchema } from '../../operator/index.ts'
import { checkRules } from './check-rules.ts'
import { checkStructure, unknownField } from './check-structure.ts'
import { type Fault, faultAt, isObject, quote } from './fault.ts'
import type { Path } from './read-documents.ts'

/** Checks a resource as the API server and then the operator do. */
export type ResourceCheck = (resource: Readonly<Record<string, unknown>>) => Fault[]

/** Creates the check of a kind, with its schema. */
export function createResourceCheck(kind: Kind): ResourceCheck {
  const schema = resourceSchemaOf(kind)
  return (resource) => {
    const { status, ...declared } = resource
    // The API server ignores a status in an applied resource.
    const ignored = status === undefined ? [] : [statusIsIgnored]
    return [...ignored, ...checkDeclared(kind, schema, declared)]
  }
}

const statusIsIgnored: Fault = {
  ...{ path: ['status'], part: 'key', level: 'warning' },
  message: 'is set by the operator; a value here is ignored',
}

function checkDeclared(
  kind: Kind,
  schema: StructuralSchema,
  declared: Readonly<Record<string, unknown>>,
): Fault[] {
  const { metadata } = declared
  const stored = withDefaults(declared, schema) as Readonly<Record<string, unknown>>
  const structure = [...checkMetadata(metadata), ...checkStructure(stored, schema, [])]
  if (structure.length > 0) return structure
  const rules = checkRules(stored, schema, [])
  return rules.length > 0 ? rules : checkAsOperator(kind, stored['spec'])
}

/** Checks the spec with the kind's zod schema, which may be stricter than the CRD. */
function checkAsOperator(kind: Kind, spec: unknown): Fault[] {
  const { error } = kind.spec.safeParse(spec)
  return (error?.issues ?? []).map(({ path, message }) =>
    faultAt(
      ['spec', ...path.map((step) => (typeof step === 'number' ? step : String(step)))],
      message,
    ),
  )
}

/**
 * Returns the value as the API server stores it: missing fields have their default, and a null in a
 * field that is not nullable counts as missing.
 */
function withDefaults(value: unknown, schema: StructuralSchema): unknown {
  const { items, additionalProperties, properties } = schema
  if (items !== undefined && Array.isArray(value)) {
    return value.map((item) => withDefaults(item, items))
  }
  if (!isObject(value)) return value
  const kept = Object.entries(value).filter(([name, field]) => {
    return field !== null || (properties?.[name] ?? additionalProperties ?? nullable).nullable
  })
  const filled = kept.map(([name, field]) => {
    const of = properties?.[name] ?? additionalProperties
    return [name, of === undefined ? field : withDefaults(field, of)]
  })
  const missing = Object.entries(properties ?? {}).filter(
    ([name, field]) => field.default !== undefined && !kept.some(([one]) => one === name),
  )
  const added = missing.map(([name, field]) => [name, withDefaults(field.default, field)])
  return Object.fromEntries([...filled, ...added])
}

/** Unknown fields keep their null. */
const nullable = { nullable: true }

/** Returns the faults that the API server finds in the metadata of a resource. */
function checkMetadata(metadata: unknown): Fault[] {
  const path = ['metadata']
  if (metadata === undefined) return [faultAt([], 'metadata is missing')]
  if (!isObject(metadata)) return [faultAt(path, `got ${quote(metadata)}, expected fields`)]
  const unknown = Object.keys(metadata).filter((name) => !fields.includes(name))
  return [
    ...unknown.map((name) => unknownField([...path, name], writtenFields)),
    ...checkName(metadata, path),
    ...checkWord(metadata['namespace'], [...path, 'namespace'], namespaces),
    ...checkTexts(metadata['labels'], [...path, 'labels'], labels),
    ...checkTexts(metadata['annotations'], [...path, 'annotations'], annotations),
  ]
}

const writtenFields = ['name', 'generateName', 'namespace', 'labels', 'annotations', 'finalizers']
const fields = [
  ...writtenFields,
  ...['ownerReferences', 'managedFields', 'uid', 'resourceVersion', 'generation', 'selfLink'],
  ...['creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds'],
]

type Words = { pattern: RegExp; length_max: number; expected: string }

const names: Words = {
  pattern: /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
  length_max: 253,
  expected: 'lower-case letters, digits, - and . (RFC 1123)',
}
const namespaces: Words = {
  pattern: /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/,
  length_max: 63,
  expected: 'lower-case letters, digits and - (RFC 1123)',
}
const labels: Words = {
  pattern: /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/,
  length_max: 63,
  expected: 'up to 63 letters, digits, -, _ and .',
}
const annotations: Words = { pattern: /^/, length_max: 262_144, expected: 'text' }
const keys: Words = {
  pattern: /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/,
  length_max: 317,
  expected: 'a name, or a domain and a name: `example.com/team`',
}

function checkName(metadata: Readonly<Record<string, unknown>>, path: Path): Fault[] {
  const { name, generateName } = metadata
  if (name !== undefined) return checkWord(name, [...path, 'name'], names)
  if (generateName !== undefined) {
    const whole = typeof generateName === 'string' ? `${generateName}x` : generateName
    return checkWord(whole, [...path, 'generateName'], names)
  }
  return [faultAt(path, 'name is missing')]
}

function checkWord(value: unknown, path: Path, words: Words): Fault[] {
  if (value === undefined) return []
  const { pattern, length_max, expected } = words
  if (typeof value === 'string' && value.length <= length_max && pattern.test(value)) return []
  return [faultAt(path, `got ${quote(value)}, expected ${expected}`)]
}

function checkTexts(value: unknown, path: Path, words: Words): Fault[] {
  if (value === undefined || value === null) return []
  if (!isObject(value)) return [faultAt(path, `got ${quote(value)}, expected fields of text`)]
  return Object.entries(value).flatMap(([name, text]) => [
    ...checkWord(name, [...path, name], keys),
    ...checkWord(text, [...path, name], words),
  ])
}
