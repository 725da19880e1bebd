import { canonicalRule } from '../../../capabilities/incidents/rules/written-rule.ts'
import { commonSpecFields } from '../../common-spec.ts'
import type { IncidentRuleFields } from './fields.ts'

/** The body of a rule, as the API accepts it. */
export type RuleRequest = { name: string } & Readonly<Record<string, unknown>>

/** Fields of the resource that the rule does not have. */
const resourceFields = new Set(['projectRef', 'ruleName', ...Object.keys(commonSpecFields)])

/** Fields with other names in the API. */
const apiNames: Readonly<Record<string, string>> = { suspendEvaluation: 'suspend' }
const specNames: Readonly<Record<string, string>> = {
  name: 'ruleName',
  suspend: 'suspendEvaluation',
}

/** Maps whose keys are names of the user. */
const maps = new Set(['labels', 'annotations'])

/** Converts the spec of a resource of a name to the body of a rule of the API. */
export function toRule({ name, spec }: { name: string; spec: IncidentRuleFields }): RuleRequest {
  const fields = Object.entries(spec).filter(([field]) => !resourceFields.has(field))
  const rule = canonicalRule(toApi(Object.fromEntries(fields))) as Readonly<Record<string, unknown>>
  return { ...rule, name: spec.ruleName ?? name }
}

function toApi(fields: object): Record<string, unknown> {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(
    entries.map(([field, value]) => [apiNames[field] ?? toSnakeCase(field), toValue(field, value)]),
  )
}

function toValue(field: string, value: unknown): unknown {
  if (maps.has(field)) return value
  if (Array.isArray(value)) return value.map((item) => (isFields(item) ? toApi(item) : item))
  return isFields(value) ? toApi(value) : value
}

const isFields = (value: unknown): value is object => typeof value === 'object' && value !== null

/** Converts the path of a field of a rule to the path in the spec of the resource. */
export function toSpecPath(path: readonly PropertyKey[]): (string | number)[] {
  return path.map((step, at) => {
    if (typeof step === 'number') return step
    const isOfMap = path.slice(0, at).some((parent) => maps.has(String(parent)))
    if (isOfMap) return String(step)
    return (at === 0 ? specNames[String(step)] : undefined) ?? toCamelCase(String(step))
  })
}

function toSnakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function toCamelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase())
}
