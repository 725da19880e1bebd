import type { z } from 'zod'
import { type Fault, problem } from '../../kernel/problem.ts'
import { pathsOfTexts } from '../../model/storable.ts'
import { refusalOf } from '../../model/zod-messages.ts'

type Part = 'params' | 'query' | 'body'
type Parts<T> = Record<Part, T>

/**
 * Validates path, query and body together, so that one response names every fault. Refuses texts
 * that no store can take, unless `anyText`. Throws `invalid_request`. Pointers into the body are
 * JSON pointers, others are `path.name`, `query.name`.
 */
export function parseParts(
  schemas: Parts<z.ZodType | undefined>,
  values: Parts<unknown>,
  { anyText }: { anyText: boolean },
): Parts<unknown> {
  const faults: Fault[] = []
  const parsed: Parts<unknown> = { params: undefined, query: undefined, body: undefined }
  for (const part of ['params', 'query', 'body'] as const) {
    const schema = schemas[part]
    if (schema === undefined) continue
    const result = schema.safeParse(values[part] ?? (part === 'query' ? {} : undefined))
    if (result.success) parsed[part] = result.data
    else faults.push(...result.error.issues.flatMap((issue) => faultsOf(part, issue, values[part])))
  }
  if (faults.length === 0 && !anyText) faults.push(...findBrokenTexts(values))
  if (faults.length === 0) return parsed
  const [first] = faults
  throw problem('invalid_request', {
    detail: `${first?.pointer || 'body'}: ${first?.detail}`,
    faults: faults.slice(0, faultsMax),
  })
}

/**
 * Finds texts that a store or a receiver cannot take: U+0000 in the path and query, and half of a
 * surrogate pair in the body (RFC 7493, 2.1). Bodies that store U+0000 refuse it by their schema.
 */
function findBrokenTexts({ params, query, body }: Parts<unknown>): Fault[] {
  const hasNul = (text: string) => text.includes('\u0000')
  const isUnpaired = (text: string) => !text.isWellFormed()
  return [
    ...pathsOfTexts(params, hasNul).map((path) => pointerTo('params', path)),
    ...pathsOfTexts(query, hasNul).map((path) => pointerTo('query', path)),
    ...pathsOfTexts(body, isUnpaired).map((path) => pointerTo('body', path)),
  ].map((pointer) => ({
    pointer,
    detail: 'expected text without U+0000 and without half of a surrogate pair',
  }))
}

/** Maximum faults in one response. A hostile body can have thousands. */
const faultsMax = 50

function faultsOf(part: Part, issue: z.core.$ZodIssue, value: unknown): Fault[] {
  if (issue.code !== 'unrecognized_keys') {
    return [{ pointer: pointerTo(part, issue.path), detail: detailOf(part, issue, value) }]
  }
  return issue.keys.map((key) => ({
    pointer: pointerTo(part, [...issue.path, key]),
    detail: `${quote(key)} is not a field here`,
  }))
}

/**
 * Describes a fault. Parameters are quoted; bodies are not, because they may contain a password.
 */
function detailOf(part: Part, issue: z.core.$ZodIssue, value: unknown): string {
  const given = (value as Record<PropertyKey, unknown> | undefined)?.[issue.path[0] ?? '']
  const refusal = refusalOf(issue, valueAt(value, issue.path))
  if (part === 'body' || typeof given !== 'string' || refusal.includes(given)) return refusal
  return `got ${quote(given)}: ${refusal}`
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, step) => Object(value)[step], root)
}

const maxQuotedCharacters = 80

function quote(text: string): string {
  return JSON.stringify(text.slice(0, maxQuotedCharacters))
}

function pointerTo(part: Part, path: readonly PropertyKey[]): string {
  const steps = path.map(String)
  if (part === 'body') {
    return steps.map((step) => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
  }
  return [part === 'params' ? 'path' : 'query', ...steps].join('.')
}
