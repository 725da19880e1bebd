import { type Kind, resourceSchemaOf, type StructuralSchema } from '../../operator/index.ts'
import { isTarget, openOutbound } from '../../platform/outbound/index.ts'
import { checkRules } from './check-rules.ts'
import { createStructureCheck, unknownField } from './check-structure.ts'
import { type Fault, faultAt, isObject, quote } from './fault.ts'
import type { Path } from './read-documents.ts'

/** Checks a resource as the API server and then the operator do. */
export type ResourceCheck = (resource: Readonly<Record<string, unknown>>) => Fault[]

const checks = new WeakMap<Kind, ResourceCheck>()

/** Returns the check of a kind. It compiles the schema once, with the first resource of the kind. */
export function resourceCheckOf(kind: Kind, kinds: readonly Kind[]): ResourceCheck {
  return (resource) => {
    const check = checks.get(kind) ?? createResourceCheck(kind, kinds)
    checks.set(kind, check)
    return check(resource)
  }
}

function createResourceCheck(kind: Kind, kinds: readonly Kind[]): ResourceCheck {
  const schema = withoutStatus(resourceSchemaOf(kind))
  const checkStructure = createStructureCheck(schema)
  return (resource) => {
    const { status, ...declared } = resource
    // The API server ignores a status in an applied resource.
    const ignored = status === undefined ? [] : [statusIsIgnored]
    const stored = withoutNulls(declared, schema) as Readonly<Record<string, unknown>>
    const structure = [...checkMetadata(declared['metadata']), ...checkStructure(stored)]
    if (structure.length > 0) return [...ignored, ...structure]
    const rules = checkRules(stored, schema, [])
    return [
      ...ignored,
      ...(rules.length > 0 ? rules : checkAsOperator(kind, kinds, stored['spec'])),
    ]
  }
}

/** Leaves out the fields of the status, which would take the most time to compile. */
function withoutStatus({ properties, ...schema }: StructuralSchema): StructuralSchema {
  return { ...schema, properties: { ...properties, status: { type: 'object' } } }
}

const statusIsIgnored: Fault = {
  path: ['status'],
  part: 'key',
  level: 'warning',
  message: 'is set by the operator; a value here is ignored',
}

/** Checks the spec with the kind's zod schema, which may be stricter than the CRD. */
function checkAsOperator(kind: Kind, kinds: readonly Kind[], spec: unknown): Fault[] {
  const { error, data } = kind.spec.safeParse(spec)
  const found = data === undefined ? error?.issues : kind.faultsAmong?.(data, kinds)
  const warnings = data === undefined ? [] : (kind.warnings?.(data) ?? [])
  return [
    ...(found ?? []).map(({ path, message }) => faultAt(inSpec(path), message)),
    ...warnings.map(({ path, message }): Fault => {
      return { ...faultAt(inSpec(path), message), level: 'warning' }
    }),
    ...checkAddresses(kind, spec),
  ]
}

function inSpec(path: readonly PropertyKey[]): Path {
  return ['spec', ...path.map((step) => (typeof step === 'number' ? step : String(step)))]
}

/**
 * Copies a value without nulls in fields that are not nullable: the API server drops them before it
 * adds defaults. Unknown fields keep their null.
 */
function withoutNulls(value: unknown, schema?: StructuralSchema): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutNulls(item, schema?.items))
  if (!isObject(value)) return value
  const { properties = {}, additionalProperties } = schema ?? {}
  const fields = Object.entries(value).flatMap(([name, field]) => {
    const of = Object.hasOwn(properties, name) ? properties[name] : additionalProperties
    const isDropped = field === null && of !== undefined && !of.nullable
    return isDropped ? [] : [[name, withoutNulls(field, of)]]
  })
  return Object.fromEntries(fields)
}

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

/** Without allowed networks, which only the service knows. */
const outbound = openOutbound({ allowed: [] })

/**
 * Returns faults of the URLs of a NotificationChannel: errors for those that the service always
 * refuses, and warnings for addresses that it refuses unless its configuration allows the network.
 */
function checkAddresses({ kind }: Pick<Kind, 'kind'>, spec: unknown): Fault[] {
  if (kind !== 'NotificationChannel' || !isObject(spec)) return []
  return Object.entries(spec).flatMap(([type, section]): Fault[] => {
    const url = isObject(section) ? section['url'] : undefined
    const fault = typeof url === 'string' ? outbound.refusal(url) : undefined
    if (fault === undefined) return []
    if (!isTarget(String(url))) return [faultAt(['spec', type, 'url'], fault.message)]
    const message = `${fault.message}. The service refuses the channel unless LOOPTRACE_OUTBOUND_ALLOWED has the network`
    return [{ ...faultAt(['spec', type, 'url'], message), level: 'warning' }]
  })
}
