import { parseDocument, stringify } from 'yaml'
import { draftOf, type RuleDraft } from './rule-draft.ts'

/** A rule that a text declares, or why it does not. */
export type ReadRule = { rule: RuleDraft } | { fault: string }

const apiVersion = 'looptrace.dev/v1alpha1'

/** Fields of the resource that the rule of the API does not have. */
const resourceFields = new Set([
  ...['projectRef', 'ruleName', 'className', 'suspend', 'resyncPeriod', 'deletionPolicy'],
])

/** Maps whose keys are names of the user. */
const maps = new Set(['labels', 'annotations'])

/** Numbers of the API that resources write as decimal text: custom resources have no fractions. */
const decimals = new Set([
  'threshold',
  'objective',
  'factor',
  'max_ratio',
  'floor',
  'min_confidence',
])

/**
 * Writes a rule as an IncidentRule resource, which can be applied to a cluster, kept in git, and read
 * by `looptrace rules apply`, `lint` and `test`.
 */
export function toYaml(rule: RuleDraft, project: string): string {
  const { name, suspend, ...fields } = draftOf(rule)
  const resource = {
    apiVersion,
    kind: 'IncidentRule',
    metadata: { name },
    spec: {
      projectRef: { name: project },
      ...(toResource(fields) as object),
      ...(suspend === true && { suspendEvaluation: true }),
    },
  }
  return stringify(resource, { lineWidth: 0 })
}

/** Reads a rule from an IncidentRule resource. */
export function fromYaml(text: string): ReadRule {
  const document = parseDocument(text, { prettyErrors: true })
  const [error] = document.errors
  if (error !== undefined) return { fault: error.message }
  const resource = document.toJS({ maxAliasCount: 20 }) as unknown
  if (!isObject(resource))
    return { fault: 'The text is not a resource: expected kind, metadata and spec.' }
  const { kind, metadata, spec } = resource
  if (kind !== 'IncidentRule') return { fault: `kind: got ${show(kind)}, expected IncidentRule` }
  if (resource['apiVersion'] !== apiVersion) {
    return { fault: `apiVersion: got ${show(resource['apiVersion'])}, expected ${apiVersion}` }
  }
  if (!isObject(spec)) return { fault: 'spec: expected the fields of the rule' }
  const name = spec['ruleName'] ?? (isObject(metadata) ? metadata['name'] : undefined)
  if (typeof name !== 'string') return { fault: 'metadata.name: expected the name of the rule' }
  const fields = Object.entries(spec).filter(([field]) => !resourceFields.has(field))
  const { suspend_evaluation, ...rule } = toApi(Object.fromEntries(fields)) as Record<
    string,
    unknown
  >
  const suspend = suspend_evaluation === undefined ? {} : { suspend: suspend_evaluation }
  return { rule: { ...rule, ...suspend, name } as unknown as RuleDraft }
}

function show(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value)
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function toResource(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toResource)
  if (!isObject(value)) return value
  const entries = Object.entries(value).filter(([, each]) => each !== undefined)
  return Object.fromEntries(
    entries.map(([field, each]) => {
      if (decimals.has(field) && typeof each === 'number')
        return [toCamel(field), decimalText(each)]
      return [toCamel(field), maps.has(field) ? each : toResource(each)]
    }),
  )
}

function toApi(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toApi)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([field, each]) => {
      const name = toSnake(field)
      const isDecimal =
        decimals.has(name) && typeof each === 'string' && /^-?\d+(\.\d+)?$/.test(each)
      return [name, maps.has(field) ? each : isDecimal ? Number(each) : toApi(each)]
    }),
  )
}

/** Writes a number without an exponent, with at most the nine digits that resources accept. */
function decimalText(value: number): string {
  const text = value.toFixed(9)
  return text.replace(/\.?0+$/, '')
}

function toCamel(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

function toSnake(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
