import type { QueryParams } from '../../platform/columnar/index.ts'

/** An expression of a sorting key, and its type in ClickHouse. */
export type KeyPart = { expression: string; type: string }

/** Values of a sorting key, as `readKey` selects them. */
export type KeyValues = readonly string[]

/** A condition, and the values of its placeholders. */
export type Condition = { sql: string; params: QueryParams }

/** Splits `a, toDate(b, 'UTC')` at the commas that are outside of brackets. */
export function splitExpressions(list: string): string[] {
  const parts: string[] = []
  let depth = 0
  let start = 0
  for (const [at, sign] of [...list].entries()) {
    if (sign === '(') depth += 1
    if (sign === ')') depth -= 1
    if (sign !== ',' || depth > 0) continue
    parts.push(list.slice(start, at).trim())
    start = at + 1
  }
  return [...parts, list.slice(start).trim()].filter((part) => part !== '')
}

/** Returns the columns that select the values of a key: `key_0`, `key_1`, and so on. */
export function readKey(key: readonly KeyPart[]): string {
  return key.map((part, at) => `${toText(part)} AS key_${at}`).join(', ')
}

/** Texts as hex digits, because they may be no valid UTF-8, in which case JSON would change them. */
function toText({ expression, type }: KeyPart): string {
  return isText(type) ? `hex(${expression})` : `toString(${expression})`
}

function isText(type: string): boolean {
  return type === 'String' || type === 'LowCardinality(String)'
}

/** Returns the condition for rows behind a position: `key > values`. */
export function behind(key: readonly KeyPart[], values: KeyValues): Condition {
  return compare(key, values, { name: 'after', sign: '>', equal: false })
}

/** Returns the condition for rows up to a position: `key <= values`. */
export function upTo(key: readonly KeyPart[], values: KeyValues): Condition {
  return compare(key, values, { name: 'until', sign: '<', equal: true })
}

/**
 * Compares a key column by column: `a > x OR (a = x AND b > y)`. ClickHouse finds the rows of such a
 * condition by its index, but not those of a comparison of tuples.
 */
function compare(
  key: readonly KeyPart[],
  values: KeyValues,
  { name, sign, equal }: { name: string; sign: string; equal: boolean },
): Condition {
  const literal = ({ type }: KeyPart, at: number) =>
    isText(type) ? `unhex({${name}_${at}:String})` : `{${name}_${at}:${type}}`
  const same = key.map((part, at) => `${part.expression} = ${literal(part, at)}`)
  const cases = key.map((part, at) => {
    const differs = `${part.expression} ${sign} ${literal(part, at)}`
    return [...same.slice(0, at), differs].join(' AND ')
  })
  if (equal) cases.push(same.join(' AND '))
  const params = Object.fromEntries(values.map((value, at) => [`${name}_${at}`, value]))
  return { sql: `((${cases.join(') OR (')}))`, params }
}
