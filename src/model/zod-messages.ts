import type { z } from 'zod'

/** Begins of the texts of zod; those that our schemas give have others. */
const ofLibrary = /^(Invalid |Too small|Too big|Unrecognized key)/

/**
 * Returns why a value is refused, in our words: `expected text, got a number`. The value itself, which
 * may be a secret, is not in it. Texts that a schema gives are kept.
 */
export function refusalOf(issue: z.core.$ZodIssue, value: unknown): string {
  if (issue.code === 'custom' || !ofLibrary.test(issue.message)) return issue.message
  const expected = expectedBy(issue)
  const isOfType = issue.code !== 'invalid_type' && value !== undefined
  return isOfType ? expected : `${expected}, got ${typeOf(value)}`
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
}

function typeOf(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  const type = Array.isArray(value) ? 'array' : typeof value
  return typeNames[type] ?? type
}

function expectedBy(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${typeNames[issue.expected] ?? issue.expected}`
    case 'invalid_value':
      return expectedOneOf(issue.values)
    case 'too_small':
      return expectedSize(issue, 'least', issue.minimum)
    case 'too_big':
      return expectedSize(issue, 'most', issue.maximum)
    case 'invalid_format':
      return expectedFormat(issue)
    case 'invalid_key':
      return ['expected another name', ...issue.issues.map((one) => refusalOf(one, ''))].join(': ')
    case 'invalid_union':
      return expectedOption(issue)
    case 'unrecognized_keys':
      return `expected no ${issue.keys.map((key) => JSON.stringify(key)).join(', ')}`
    default:
      return 'expected another value'
  }
}

function expectedOneOf(values: readonly unknown[]): string {
  const list = values.map(String).join(', ')
  return values.length === 1 ? `expected ${list}` : `expected one of ${list}`
}

const units: Readonly<Record<string, string>> = {
  string: ' characters',
  array: ' items',
  set: ' items',
  map: ' entries',
  record: ' entries',
}

function expectedSize(
  { origin, inclusive, exact }: { origin: string; inclusive?: boolean; exact?: boolean },
  side: 'least' | 'most',
  limit: number | bigint,
): string {
  const unit = units[origin] ?? ''
  if (exact === true) return `expected ${limit}${unit}`
  if (inclusive !== false) return `expected at ${side} ${limit}${unit}`
  return `expected ${side === 'least' ? 'more' : 'less'} than ${limit}${unit}`
}

const formats: Readonly<Record<string, string>> = {
  url: 'a URL',
  uuid: 'a UUID',
  email: 'an e-mail address',
  datetime: 'an instant such as 2026-01-05T12:00:00Z',
  date: 'a date such as 2026-01-05',
}

function expectedFormat({ format, pattern }: { format: string; pattern?: string }): string {
  const name = formats[format]
  if (name !== undefined) return `expected ${name}`
  return pattern === undefined ? `expected ${format}` : `expected text that matches ${pattern}`
}

/** A union whose field decides has its values; of another one no part is known to be meant. */
function expectedOption(issue: z.core.$ZodIssueInvalidUnion): string {
  const { options } = issue as { options?: readonly unknown[] }
  return options === undefined ? 'expected another kind of value' : expectedOneOf(options)
}
