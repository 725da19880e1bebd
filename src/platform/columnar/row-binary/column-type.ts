/** A ClickHouse type taken apart: `Nullable(Decimal(18, 9))` has `Decimal` with two numbers. */
export type ColumnType = {
  name: string
  /** Nested types, for instance the one of an Array or both of a Map. */
  types: ColumnType[]
  /** Names of a Tuple's elements, in the order of `types`. */
  elements: string[]
  /** Precision and scale, length, and the like. */
  numbers: number[]
}

/** Parses the spelling of a type. Throws TypeError when it is none. */
export function parseColumnType(text: string): ColumnType {
  const { name, inner } = nameAndInner(text.trim())
  const type: ColumnType = { name, types: [], elements: [], numbers: [] }
  for (const argument of topLevelArguments(inner)) addArgument(type, argument)
  return type
}

function nameAndInner(text: string): { name: string; inner: string } {
  const match = /^(\w+)(?:\((.*)\))?$/s.exec(text)
  if (!match) throw new TypeError(`column type: got "${text}", expected for instance Array(String)`)
  return { name: match[1] ?? '', inner: match[2] ?? '' }
}

function addArgument(type: ColumnType, argument: string): void {
  if (/^\d+$/.test(argument)) {
    type.numbers.push(Number(argument))
    return
  }
  if (argument.startsWith("'")) return
  const element = type.name === 'Tuple' ? /^(\w+)\s+(.+)$/s.exec(argument) : null
  type.elements.push(element?.[1] ?? '')
  type.types.push(parseColumnType(element?.[2] ?? argument))
}

function topLevelArguments(text: string): string[] {
  const parts: string[] = []
  let depth = 0
  let start = 0
  for (let index = 0; index < text.length; index++) {
    const char = text[index]
    if (char === '(') depth++
    if (char === ')') depth--
    if (char === ',' && depth === 0) {
      parts.push(text.slice(start, index).trim())
      start = index + 1
    }
  }
  const last = text.slice(start).trim()
  return last === '' ? parts : [...parts, last]
}
