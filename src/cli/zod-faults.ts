import { z } from 'zod'
import { refusalOf } from '../model/zod-messages.ts'
import { unknownField } from './lint/check-structure.ts'
import { type Fault, faultAt, quote } from './lint/fault.ts'
import type { Path } from './lint/read-documents.ts'

/** Parses a value that a user wrote. Faults name the value and what was expected. */
export function parseWritten<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): { data: z.output<Schema> } | { faults: Fault[] } {
  const result = schema.safeParse(value)
  if (result.success) return { data: result.data }
  return { faults: result.error.issues.flatMap((issue) => faultsFrom(issue, schema, value)) }
}

function faultsFrom(issue: z.core.$ZodIssue, schema: z.ZodType, root: unknown): Fault[] {
  const path = toPath(issue.path)
  if (issue.code === 'unrecognized_keys') {
    const known = fieldsAt(schema, path)
    return issue.keys.map((key) => unknownField([...path, key], known))
  }
  const value = valueAt(root, path)
  const name = path.at(-1)
  if (value === undefined && name !== undefined) {
    return [faultAt(path.slice(0, -1), `${name} is missing`)]
  }
  return [faultAt(path, messageOf(issue, value))]
}

function messageOf(issue: z.core.$ZodIssue, value: unknown): string {
  const refusal = refusalOf(issue, value)
  const isComplete = issue.code === 'custom' || refusal.startsWith('got ')
  return isComplete ? refusal : `got ${quote(value)}, ${refusal.replace(/, got [a-z ]+$/, '')}`
}

function toPath(path: readonly PropertyKey[]): Path {
  return path.map((step) => (typeof step === 'number' ? step : String(step)))
}

function valueAt(root: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (value, step) => (value as Readonly<Record<string, unknown>> | undefined)?.[step],
    root,
  )
}

/** Returns the names of the fields of the object at a path. */
function fieldsAt(schema: z.ZodType, path: Path): string[] {
  const inner = path.reduce<unknown>((from, step) => {
    const bare = unwrapped(from)
    if (bare instanceof z.ZodArray) return bare.element
    return bare instanceof z.ZodObject ? bare.shape[String(step)] : undefined
  }, schema)
  const bare = unwrapped(inner)
  return bare instanceof z.ZodObject ? Object.keys(bare.shape) : []
}

function unwrapped(schema: unknown): unknown {
  const isWrapped = schema instanceof z.ZodOptional || schema instanceof z.ZodDefault
  return isWrapped ? unwrapped(schema.unwrap()) : schema
}
