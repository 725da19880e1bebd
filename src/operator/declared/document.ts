import { z } from 'zod'

/** The place of a field in the document of the service, where it is not its name in snake_case. */
type Place = {
  /** Its name in the document. */
  name?: string
  /** Converts the value, under the same place. */
  convert?: (value: never) => unknown
  /** Returns the fields of the document that the value sets, none if it sets none. */
  fields?: (value: never) => object
}

const places = z.registry<Place>()

/** Marks the schema of a field whose place is declared. */
export type Placed = { readonly _placed: true }

/** Declares a field that has another name in the document. */
export function named<S extends z.ZodType>(schema: S, name: string): S & Placed {
  return put(schema, { name })
}

/** Declares a field that sets other fields of the document than the one of its name. */
export function placed<S extends z.ZodType>(
  schema: S,
  fields: (value: z.output<S>) => object,
): S & Placed {
  return put(schema, { fields })
}

/** Declares a field that no document has: the operator itself follows it. */
export function elsewhere<S extends z.ZodType>(schema: S): S & Placed {
  return placed(schema, () => ({}))
}

/** Declares fields that no document has. */
export function allElsewhere<Fields extends Readonly<Record<string, z.ZodType>>>(fields: Fields) {
  for (const schema of Object.values(fields)) elsewhere(schema)
  return fields as { [Name in keyof Fields]: Fields[Name] & Placed }
}

/** Declares how the values of a schema are converted. */
export function converted<S extends z.ZodType>(
  schema: S,
  convert: (value: z.output<S>) => unknown,
): S {
  return put(schema, { convert })
}

function put<S extends z.ZodType>(schema: S, place: Place): S & Placed {
  const entry: z.ZodType = schema
  places.add(entry, place)
  return schema as S & Placed
}

type SnakeCase<Name extends string> = Name extends `${infer Letter}${infer Rest}`
  ? `${Letter extends Lowercase<Letter> ? Letter : `_${Lowercase<Letter>}`}${SnakeCase<Rest>}`
  : ''

/** A schema without its default, and without being optional; `Placed` if its place is declared. */
type Plain<S> = S extends Placed
  ? Placed
  : S extends z.ZodOptional<infer Inner> | z.ZodDefault<infer Inner> | z.ZodPrefault<infer Inner>
    ? Plain<Inner>
    : S

type NameIn<Document> = Document extends unknown ? keyof Document : never
type ValueIn<Document, Name> = Document extends unknown
  ? Name extends keyof Document
    ? NonNullable<Document[Name]>
    : never
  : never

/** The fields of a spec, by their paths, that a document of a type does not have. */
type Unplaced<S, Document, Path extends string = ''> =
  S extends z.ZodArray<infer Item>
    ? Document extends readonly (infer Element)[]
      ? Unplaced<Plain<Item>, Element, Path>
      : never
    : S extends z.ZodObject<infer Shape>
      ? {
          [Name in keyof Shape & string]: Plain<Shape[Name]> extends Placed
            ? never
            : SnakeCase<Name> extends NameIn<Document>
              ? Unplaced<Plain<Shape[Name]>, ValueIn<Document, SnakeCase<Name>>, `${Path}${Name}.`>
              : `${Path}${Name}`
        }[keyof Shape & string]
      : never

/** Compiles only for a spec without fields that the document does not have. */
type Whole<S, Document> = [Unplaced<S, Document>] extends [never]
  ? unknown
  : { 'fields without a place in the document': Unplaced<S, Document> }

/**
 * Returns the conversion of a spec to the document of the service: fields have the same names in
 * snake_case, unless they are `placed`. A field that has no place in the document does not compile.
 */
export function documentOf<Document extends object>() {
  return <S extends z.ZodObject>(spec: S & Whole<S, Document>) =>
    (value: z.output<S>): Partial<Document> =>
      toFields(spec, value) as Partial<Document>
}

type Fields = Readonly<Record<string, unknown>>

function toFields({ shape }: z.ZodObject, value: object): Fields {
  const fields: Record<string, unknown> = {}
  const given = new Map(Object.entries(value))
  for (const [name, schema] of Object.entries(shape)) {
    const own = given.get(name)
    if (own === undefined) continue
    const set = placeOf(schema)?.fields
    merge(fields, set?.(own as never) ?? { [nameOf(name, schema)]: toValue(schema, own) })
  }
  return fields
}

/** Adds fields; those of an object that is there are added to it. */
function merge(fields: Record<string, unknown>, more: object): void {
  for (const [name, value] of Object.entries(more)) {
    const before = fields[name]
    fields[name] = isFields(before) && isFields(value) ? { ...before, ...value } : value
  }
}

function toValue(schema: z.core.$ZodType, value: unknown): unknown {
  const convert = placeOf(schema)?.convert
  if (convert !== undefined) return convert(value as never)
  const plain = plainOf(schema)
  if (Array.isArray(value) && plain instanceof z.ZodArray) {
    return value.map((item) => toValue(plain.element, item))
  }
  return plain instanceof z.ZodObject && isFields(value) ? toFields(plain, value) : value
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns the place of a field, which may be declared inside its default. */
function placeOf(schema: z.core.$ZodType): Place | undefined {
  const place = places.get(schema)
  if (place !== undefined) return place
  return isWrapper(schema) ? placeOf(schema.unwrap()) : undefined
}

function plainOf(schema: z.core.$ZodType): z.core.$ZodType {
  return isWrapper(schema) ? plainOf(schema.unwrap()) : schema
}

function isWrapper(
  schema: z.core.$ZodType,
): schema is z.ZodOptional | z.ZodDefault | z.ZodPrefault {
  return (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault
  )
}

/** Converts the path of a field of the document to the path in the spec. */
export function toSpecPath(
  schema: z.core.$ZodType,
  [step, ...rest]: readonly PropertyKey[],
): (string | number)[] {
  if (step === undefined) return []
  const plain = plainOf(schema)
  const at = typeof step === 'number' ? step : String(step)
  if (plain instanceof z.ZodArray) return [at, ...toSpecPath(plain.element, rest)]
  if (!(plain instanceof z.ZodObject)) return [at, ...rest.map(String)]
  const field = Object.entries(plain.shape).find(([name, own]) => nameOf(name, own) === at)
  return field === undefined ? [at, ...rest.map(String)] : [field[0], ...toSpecPath(field[1], rest)]
}

/** Returns the name of a field in the document. */
function nameOf(field: string, schema: z.core.$ZodType): string {
  return placeOf(schema)?.name ?? field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** Refuses a spec whose document the service refuses, in the words of the service. */
export function refusedAs<S extends z.ZodObject>(
  spec: S,
  { body, toBody }: { body: z.ZodType; toBody: (spec: z.output<S>) => object },
): S {
  return spec.superRefine((value, context) => {
    // A value that the resource may not have would be refused twice.
    if (context.issues.length > 0) return
    for (const { path, message } of body.safeParse(toBody(value)).error?.issues ?? []) {
      context.addIssue({ code: 'custom', path: toSpecPath(spec, path), message })
    }
  })
}
