import type { Field } from '../field.ts'

/** A column of text. */
export function text(name: string, description: string): Field {
  return { name, type: 'text', description }
}

/** A column of integers that are always known. */
export function count(name: string, description: string): Field {
  return { name, type: 'integer', description }
}
