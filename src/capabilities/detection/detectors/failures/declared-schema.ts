import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { cutText } from '../../evidence/cut-text.ts'
import { remember } from '../../evidence/remember.ts'
import { checkableSchema } from './checkable-schema.ts'

/** A place in arguments that is not as the tool declared it, and what was expected there. */
export type Violation = { at: string; expected: string }

/**
 * Checks arguments against the JSON Schema that a request declared for a tool. undefined: nothing
 * wrong, or nothing that can be checked (see `checkableSchema`). Never throws.
 */
export function violationOf(
  schema: Record<string, unknown>,
  value: unknown,
): Violation | undefined {
  const validate = validatorOf(schema)
  if (validate === undefined || validate(value)) return undefined
  const [error] = validate.errors ?? []
  return error && violationFrom(error)
}

/** Compiled once for as long as the run holds the schema. */
const validatorOf = remember((schema: Record<string, unknown>): ValidateFunction | undefined => {
  const checkable = checkableSchema(schema)
  if (checkable === undefined) return undefined
  try {
    return new Ajv(options).compile(checkable)
  } catch {
    // What Ajv does not take as a schema says nothing about arguments.
    return undefined
  }
})

const options = {
  strict: false,
  validateSchema: false,
  validateFormats: false,
  meta: false,
  addUsedSchema: false,
  inlineRefs: false,
  logger: false,
} as const

const at_chars_max = 200

function violationFrom({ instancePath, message = '', params }: ErrorObject): Violation {
  const name = params['additionalProperty']
  const about = typeof name === 'string' ? ` (“${cutText(name, at_chars_max)}”)` : ''
  const allowed = params['allowedValues']
  const values = Array.isArray(allowed) ? `: ${cutText(JSON.stringify(allowed), at_chars_max)}` : ''
  return {
    at: cutText(instancePath === '' ? 'the arguments' : instancePath, at_chars_max),
    expected: `${message}${about}${values}`,
  }
}
