/** A field of a filter: `state:failed`, `cost>0.1`. `Q` are parameters of the API. */
export type FilterField<Q> = {
  name: string
  about: string
  /** Between the name and the value. */
  operators: readonly string[]
  /** Values to choose from; without them, any text or number. */
  values?: readonly string[]
  /** Returns the parameters for a value, or a sentence that says what was expected. */
  read: (value: string, operator: string) => Q | string
}

/** A part of a filter that cannot be used: its position in the text, and what was expected. */
export type FilterFault = { at: number; token: string; message: string }

/** Defines a field with a few values. */
export function choiceField<Q, const V extends string>(
  name: string,
  about: string,
  values: readonly V[],
  toQuery: (value: V) => Q,
): FilterField<Q> {
  const read = (text: string) => {
    const value = values.find((each) => each === text.toLowerCase())
    return value === undefined ? `Expected ${values.join(', ')}` : toQuery(value)
  }
  return { name, about, operators: [':'], values, read }
}

/** Defines a field with any text of at most 256 characters. */
export function textField<Q>(
  name: string,
  about: string,
  toQuery: (value: string) => Q,
): FilterField<Q> {
  const read = (text: string) =>
    text.length > 256 ? 'Expected at most 256 characters' : toQuery(text)
  return { name, about, operators: [':'], read }
}

/** Defines a number that rows have at least. `about` ends with an example: `…, such as cost>1`. */
export function leastField<Q>(
  name: string,
  about: string,
  toQuery: (value: string) => Q | undefined,
): FilterField<Q> {
  const expected = `Expected a value ${about.slice(about.indexOf('such as'))}`
  return { name, about, operators: ['>=', '>'], read: (text) => toQuery(text) ?? expected }
}

/** A part of a filter between spaces; spaces in quotes do not end it. */
type Token = { at: number; text: string }

/** Splits a filter at the spaces outside of quotes. */
export function splitFilter(text: string): Token[] {
  return [...text.matchAll(/(?:[^\s"]|"[^"]*"?)+/g)].map((match) => ({
    at: match.index,
    text: match[0],
  }))
}

const unquote = (text: string) => text.replaceAll('"', '')

/** Writes a value so that it is read back as one: with quotes if it has spaces. */
export function quoteValue(value: string): string {
  const plain = unquote(value)
  return /\s/.test(plain) ? `"${plain}"` : plain
}

type Term = { field: string; operator: string; value: string }

function toTerm(text: string): Term | undefined {
  const [, field, operator, value] = /^([a-z_]+)(:|>=|<=|>|<)(.*)$/is.exec(text) ?? []
  if (field === undefined || operator === undefined || value === undefined) return undefined
  return { field: field.toLowerCase(), operator, value: unquote(value) }
}

/**
 * Reads a filter such as `state:failed cost>0.1 refund`. `words` are the parts without a field. A
 * part that cannot be used is a fault, and the others count.
 */
export function parseFilter<Q extends object>(
  fields: readonly FilterField<Q>[],
  text: string,
): { query: Partial<Q>; words: string; faults: FilterFault[] } {
  let query: Partial<Q> = {}
  const faults: FilterFault[] = []
  const words: string[] = []
  for (const { at, text: token } of splitFilter(text)) {
    const term = toTerm(token)
    const read = term === undefined ? undefined : readTerm(fields, term, query)
    if (read === undefined) words.push(unquote(token))
    else if (typeof read === 'string') faults.push({ at, token, message: read })
    else query = { ...query, ...read }
  }
  return { query, words: words.join(' ').trim(), faults }
}

function readTerm<Q extends object>(
  fields: readonly FilterField<Q>[],
  { field: name, operator, value }: Term,
  before: Partial<Q>,
): Q | string {
  const field = fields.find((each) => each.name === name)
  if (field === undefined) {
    return `“${name}” is not a field. Put the text into quotes to search for it.`
  }
  if (!field.operators.includes(operator)) {
    return `Expected ${field.operators.map((each) => `${name}${each}…`).join(' or ')}`
  }
  if (value === '') return `Expected a value after ${name}${operator}`
  const read = field.read(value, operator)
  if (typeof read === 'string') return read
  const isTwice = Object.keys(read).some((key) => key in before)
  return isTwice ? `“${name}” is given twice, and a row has to match both` : read
}

/** A proposal: the text that replaces the part at the cursor, and what it means. */
export type Proposal = { text: string; about: string; isWhole: boolean }

/** Values that the loaded rows have, by field. */
export type KnownValues = Readonly<Record<string, readonly string[]>>

const proposals_max = 12

/** Proposes fields, or values of the field, for the part of the filter at the cursor. */
export function proposeFilter<Q>(
  fields: readonly FilterField<Q>[],
  { text, cursor, known }: { text: string; cursor: number; known: KnownValues },
): { from: number; to: number; proposals: Proposal[] } {
  const token = splitFilter(text).find(
    ({ at, text: part }) => at <= cursor && cursor <= at + part.length,
  )
  const [from, to] = token ? [token.at, token.at + token.text.length] : [cursor, cursor]
  const typed = text.slice(from, cursor)
  const term = toTerm(typed)
  if (term === undefined) return { from, to, proposals: proposeFields(fields, unquote(typed)) }
  const field = fields.find(({ name }) => name === term.field)
  const values = field?.values ?? known[term.field] ?? []
  const wanted = term.value.toLowerCase()
  const proposals = values
    .filter((value) => value.toLowerCase().includes(wanted) && value !== term.value)
    .slice(0, proposals_max)
    .map((value) => ({
      text: `${term.field}${term.operator}${quoteValue(value)}`,
      about: '',
      isWhole: true,
    }))
  return { from, to, proposals }
}

function proposeFields<Q>(fields: readonly FilterField<Q>[], typed: string): Proposal[] {
  const wanted = typed.toLowerCase()
  return fields
    .filter(({ name }) => name.startsWith(wanted))
    .map(({ name, about, operators }) => ({
      text: `${name}${operators.includes(':') ? ':' : '>'}`,
      about,
      isWhole: false,
    }))
}
