import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { cutText } from '../finding-parts.ts'
import { remember } from '../remember.ts'

/** A path in the arguments that violates the declared schema, and the expectation there. */
export type Violation = { at: string; expected: string }

/**
 * Checks arguments against the JSON Schema that a request declared for a tool. Returns undefined if
 * they are valid or the schema cannot be checked (see `checkableSchema`). Never throws.
 */
export function findViolation(
  schema: Record<string, unknown>,
  value: unknown,
): Violation | undefined {
  const validate = validatorOf(schema)
  if (validate === undefined || validate(value)) return undefined
  const [error] = validate.errors ?? []
  return error && toViolation(error)
}

/** Compiles a schema once, for as long as the run holds it. */
const validatorOf = remember((schema: Record<string, unknown>): ValidateFunction | undefined => {
  const checkable = checkableSchema(schema)
  if (checkable === undefined) return undefined
  try {
    return new Ajv(options).compile(checkable)
  } catch {
    // A schema that Ajv rejects says nothing about the arguments.
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

function toViolation({ instancePath, message = '', params }: ErrorObject): Violation {
  const name = params['additionalProperty']
  const property = typeof name === 'string' ? ` (“${cutText(name, at_chars_max)}”)` : ''
  const allowed = params['allowedValues']
  const values = Array.isArray(allowed) ? `: ${cutText(JSON.stringify(allowed), at_chars_max)}` : ''
  return {
    at: cutText(instancePath === '' ? 'the arguments' : instancePath, at_chars_max),
    expected: `${message}${property}${values}`,
  }
}

/** A schema that is safe to validate with: bounded, and limited to keywords of predictable cost. */
type CheckableSchema = Record<string, unknown>

const nodes_max = 1_000
const depth_max = 32
const refs_max = 24

/**
 * Copies a tool's JSON Schema, reduced to keywords that are safe for untrusted schemas. Drops
 * patterns and formats (backtracking), uniqueness (quadratic), ids and remote references, and all
 * references if some are circular or there are too many (exponential). Dropped keywords are not
 * checked. Returns undefined for a schema beyond the limits.
 */
function checkableSchema(schema: Record<string, unknown>): CheckableSchema | undefined {
  const copied = copy(schema)
  if (copied === undefined) return undefined
  const { root, refs } = copied
  if (refs.length > refs_max || !areResolvable(root, refs) || isCircular(refs)) {
    for (const { holder } of refs) delete holder['$ref']
  }
  return root
}

/** A reference inside the definition `within`; '' outside of all definitions. */
type Ref = { holder: Record<string, unknown>; within: string; to: string }

type Todo = {
  from: Record<string, unknown>
  into: Record<string, unknown>
  within: string
  depth: number
}

/** Copies schemas iteratively, so that deep nesting cannot overflow the stack. */
function copy(schema: Record<string, unknown>) {
  const root: Record<string, unknown> = {}
  const refs: Ref[] = []
  const todo: Todo[] = [{ from: schema, into: root, within: '', depth: 0 }]
  let nodes = 0
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    if (++nodes + todo.length > nodes_max || next.depth > depth_max) return undefined
    copyNode(next, todo, refs)
  }
  return { root, refs }
}

function copyNode(todo: Todo, queue: Todo[], refs: Ref[]): void {
  const { from, into, within, depth } = todo
  const child = (value: unknown, name = within): unknown => {
    if (typeof value === 'boolean') return value
    const object = objectIn(value)
    if (object === undefined) return true
    const copied: Record<string, unknown> = {}
    queue.push({ from: object, into: copied, within: name, depth: depth + 1 })
    return copied
  }
  for (const [key, value] of Object.entries(from).slice(0, nodes_max)) {
    if (Object.hasOwn(plainKeywords, key) && plainKeywords[key]?.(value)) into[key] = value
    else if (schemaKeywords.has(key)) into[key] = child(value)
    else if (listKeywords.has(key)) copyList(into, key, value, child)
    else if (mapKeywords.has(key)) copyMap({ into, key, value, within }, child)
    else if (key === '$ref' && typeof value === 'string') {
      into[key] = value
      refs.push({ holder: into, within, to: value })
    }
  }
  dropMeantOtherwise(from, into)
}

/** Drops keywords whose meaning depends on dropped ones. */
function dropMeantOtherwise(from: Record<string, unknown>, into: Record<string, unknown>): void {
  if ('patternProperties' in from || 'unevaluatedProperties' in from) {
    delete into['additionalProperties']
  }
  if ('prefixItems' in from || Array.isArray(from['items'])) delete into['items']
}

type Child = (value: unknown, name?: string) => unknown

function copyList(into: Record<string, unknown>, key: string, value: unknown, child: Child): void {
  if (Array.isArray(value) && value.length > 0)
    into[key] = value.slice(0, nodes_max).map((one) => child(one))
}

type MapAt = { into: Record<string, unknown>; key: string; value: unknown; within: string }

/** Copies the members of a map of schemas, except `__proto__`. */
function copyMap({ into, key, value, within }: MapAt, child: Child): void {
  const isDefinitions = (key === '$defs' || key === 'definitions') && within === ''
  const names = Object.entries(objectIn(value) ?? {}).filter(([name]) => name !== '__proto__')
  into[key] = Object.fromEntries(
    names
      .slice(0, nodes_max)
      .map(([name, one]) => [name, child(one, isDefinitions ? `#/${key}/${name}` : within)]),
  )
}

function areResolvable(root: Record<string, unknown>, refs: readonly Ref[]): boolean {
  return refs.every(({ to }) => {
    const [hash, key = '', name = '', ...rest] = to.split('/')
    if (hash !== '#' || rest.length > 0 || /[%~]/.test(name)) return false
    if (key !== '$defs' && key !== 'definitions') return false
    return Object.hasOwn(objectIn(root[key]) ?? {}, name)
  })
}

/**
 * Tells whether references form a cycle: repeatedly removes those whose target refers no further.
 */
function isCircular(refs: readonly Ref[]): boolean {
  let open = refs.filter(({ within }) => within !== '')
  for (let round = 0; round <= refs_max && open.length > 0; round++) {
    const sources = new Set(open.map(({ within }) => within))
    const next = open.filter(({ to }) => sources.has(to))
    if (next.length === open.length) return true
    open = next
  }
  return open.length > 0
}

const types = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'])
const isType = (value: unknown) => typeof value === 'string' && types.has(value)
const isCount = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0
const isNumber = (value: unknown) => typeof value === 'number' && Number.isFinite(value)
const isStrings = (value: unknown) =>
  Array.isArray(value) &&
  value.every((one) => typeof one === 'string') &&
  new Set(value).size === value.length

const isScalar = (value: unknown) => value === null || typeof value !== 'object'
const values_max = 1_000

/** Keywords without subschemas, each with the check of its value. */
const plainKeywords: Record<string, ((value: unknown) => boolean) | undefined> = {
  type: (value) =>
    isType(value) ||
    (Array.isArray(value) && value.length > 0 && isStrings(value) && value.every(isType)),
  enum: (value) =>
    Array.isArray(value) && value.length > 0 && value.length <= values_max && value.every(isScalar),
  const: isScalar,
  required: isStrings,
  nullable: (value) => value === true,
  minimum: isNumber,
  maximum: isNumber,
  exclusiveMinimum: isNumber,
  exclusiveMaximum: isNumber,
  minLength: isCount,
  maxLength: isCount,
  minItems: isCount,
  maxItems: isCount,
  minProperties: isCount,
  maxProperties: isCount,
}

const schemaKeywords = new Set(['items', 'additionalProperties', 'not', 'if', 'then', 'else'])
const listKeywords = new Set(['anyOf', 'oneOf', 'allOf'])
const mapKeywords = new Set(['properties', '$defs', 'definitions'])

function objectIn(value: unknown): Record<string, unknown> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  return value as Record<string, unknown>
}
