import type { z } from 'zod'
import { type Fault, problem } from '../../kernel/problem.ts'

type Part = 'params' | 'query' | 'body'
type Parts<T> = Record<Part, T>

/**
 * Validates path, query and body together, so that one response names every fault. Throws
 * `invalid_request`. Pointers into the body are JSON pointers, others are `path.name`,
 * `query.name`.
 */
export function parseParts(
  schemas: Parts<z.ZodType | undefined>,
  values: Parts<unknown>,
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
  if (faults.length === 0) return parsed
  const [first] = faults
  throw problem('invalid_request', {
    detail: `${first?.pointer || 'body'}: ${first?.detail}`,
    faults: faults.slice(0, faultsMax),
  })
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
  if (part === 'body' || typeof given !== 'string' || issue.message.includes(given)) {
    return issue.message
  }
  return `got ${quote(given)}: ${issue.message}`
}

const quotedCharacters_max = 80

function quote(text: string): string {
  return JSON.stringify(text.slice(0, quotedCharacters_max))
}

function pointerTo(part: Part, path: readonly PropertyKey[]): string {
  const steps = path.map(String)
  if (part === 'body') {
    return steps.map((step) => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
  }
  return [part === 'params' ? 'path' : 'query', ...steps].join('.')
}
