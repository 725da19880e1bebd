import { createHash } from 'node:crypto'

/** Maximum nesting that is read; a record with deeper values is rejected. */
export const depth_max = 256

/** A hash over parts of a batch, in the order of addition. */
type BodyHash = {
  /** Adds a JSON value. Returns false when it is nested deeper than `depth_max`. */
  add(value: unknown): boolean
  digest(): Buffer
}

/**
 * Makes a SHA-256 of JSON values. It ignores spaces, the order of keys, and the spelling of numbers
 * and escapes; everything else counts, including the order of lists.
 */
export function createBodyHash(): BodyHash {
  const hash = createHash('sha256')
  return {
    add: (value) => {
      const writer: Writer = { text: '', too_deep: false }
      write(writer, value, 0)
      hash.update(writer.text)
      return !writer.too_deep
    },
    digest: () => hash.digest(),
  }
}

type Writer = { text: string; too_deep: boolean }

/** Writes each text after its length, so that different values never produce the same input. */
function write(writer: Writer, value: unknown, depth: number): void {
  if (typeof value === 'string') {
    writer.text += `"${value.length}:${value}`
  } else if (typeof value !== 'object' || value === null) {
    writer.text += `${value};`
  } else if (depth >= depth_max) {
    writer.too_deep = true
    writer.text += '!'
  } else if (Array.isArray(value)) {
    writer.text += '['
    for (const item of value) write(writer, item, depth + 1)
    writer.text += ']'
  } else {
    writeObject(writer, value as Readonly<Record<string, unknown>>, depth)
  }
}

function writeObject(
  writer: Writer,
  value: Readonly<Record<string, unknown>>,
  depth: number,
): void {
  writer.text += '{'
  for (const key of Object.keys(value).sort()) {
    writer.text += `${key.length}:${key}`
    write(writer, value[key], depth + 1)
  }
  writer.text += '}'
}
