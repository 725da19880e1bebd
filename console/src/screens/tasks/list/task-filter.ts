import type { operations } from '../../../api/schema.gen.d.ts'

/** Filters of the list of tasks, as the API names them. */
export type TaskQuery = Omit<
  NonNullable<operations['listTasks']['parameters']['query']>,
  'from' | 'to' | 'sort' | 'order' | 'limit' | 'cursor' | 'name'
>

/** A part of a filter that cannot be used: its position in the text, and what was expected. */
export type FilterFault = { at: number; token: string; message: string }

/** A field of the filter language: `state:failed`, `cost>0.1`. */
type Field = {
  name: string
  about: string
  /** Between the name and the value. */
  operators: readonly string[]
  /** Values to choose from; without them, any text or number. */
  values?: readonly string[]
  /** Returns the parameters for a value, or what was expected. */
  read: (value: string, operator: string) => TaskQuery | string
}

const severities = ['info', 'low', 'medium', 'high', 'critical'] as const

function choice<const V extends string>(
  name: string,
  about: string,
  values: readonly V[],
  toQuery: (value: V) => TaskQuery,
): Field {
  const read = (text: string) => {
    const value = values.find((each) => each === text.toLowerCase())
    return value === undefined ? `Expected ${values.join(', ')}` : toQuery(value)
  }
  return { name, about, operators: [':'], values, read }
}

function words(name: string, about: string, toQuery: (value: string) => TaskQuery): Field {
  const read = (text: string) =>
    text.length > 256 ? 'Expected at most 256 characters' : toQuery(text)
  return { name, about, operators: [':'], read }
}

function least(
  name: string,
  about: string,
  toQuery: (value: string) => TaskQuery | undefined,
): Field {
  const expected = `Expected ${about.slice(about.indexOf('such as'))}`
  return { name, about, operators: ['>=', '>'], read: (text) => toQuery(text) ?? expected }
}

/** Reads `1500`, `10k` or `1.5M`. */
function wholeNumber(text: string): number | undefined {
  const [, digits, unit = ''] = /^(\d{1,12}(?:\.\d{1,6})?)([km]?)$/i.exec(text) ?? []
  if (digits === undefined) return undefined
  const factor = { k: 1_000, m: 1_000_000 }[unit.toLowerCase()] ?? 1
  const value = Math.ceil(Number(digits) * factor)
  return value <= 999_999_999_999_999 ? value : undefined
}

/** Reads `500ms`, `10s`, `2m` or `1h` as milliseconds. A number alone is seconds. */
function durationMs(text: string): number | undefined {
  const [, digits, unit = 's'] = /^(\d{1,9}(?:\.\d{1,6})?)(ms|s|m|min|h)?$/i.exec(text) ?? []
  if (digits === undefined) return undefined
  const factor = { ms: 1, s: 1_000, m: 60_000, min: 60_000, h: 3_600_000 }[unit.toLowerCase()] ?? 1
  return Math.ceil(Number(digits) * factor)
}

/** Reads `0.1` or `$0.1` as the decimal text of the API. */
function dollars(text: string): string | undefined {
  return /^\$?(\d{1,11}(?:\.\d{1,9})?)$/.exec(text)?.[1]
}

/** Reads `0.8` or `80%`. */
function share(text: string): number | undefined {
  const [, digits, percent] = /^(\d{1,3}(?:\.\d{1,6})?)(%?)$/.exec(text) ?? []
  if (digits === undefined) return undefined
  const value = Number(digits) / (percent === '%' ? 100 : 1)
  return value <= 1 ? value : undefined
}

const when = <T>(value: T | undefined, toQuery: (value: T) => TaskQuery) =>
  value === undefined ? undefined : toQuery(value)

/** The fields, in the order in which they are offered. */
export const taskFields: readonly Field[] = [
  choice('state', 'State of the task', ['running', 'completed', 'failed'], (state) => ({ state })),
  choice('severity', 'Worst finding, at least', severities, (severity_min) => ({ severity_min })),
  words('finding', 'Type of a finding, such as repeat_call', (finding_type) => ({ finding_type })),
  choice('kind', 'Kind of a finding', ['loop', 'failure', 'context', 'claim'], (finding_kind) => ({
    finding_kind,
  })),
  choice('has', 'Failed calls', ['errors'], () => ({ has_errors: true })),
  choice('no', 'Without failed calls', ['errors'], () => ({ has_errors: false })),
  choice('is', 'Stalled, or without an X-Task-ID', ['stalled', 'implicit'], (value) =>
    value === 'stalled' ? { stalled: true } : { implicit: true },
  ),
  choice('not', 'Not stalled, or with an X-Task-ID', ['stalled', 'implicit'], (value) =>
    value === 'stalled' ? { stalled: false } : { implicit: false },
  ),
  words('model', 'A model that answered', (model) => ({ model })),
  words('user', 'User', (user_id) => ({ user_id })),
  words('conversation', 'Conversation: its id, or the id of the client', (conversation_id) => ({
    conversation_id,
  })),
  words('release', 'Release', (release) => ({ release })),
  words('environment', 'Environment', (environment) => ({ environment })),
  choice('feedback', 'Votes of end users', ['positive', 'negative'], (feedback) => ({ feedback })),
  choice(
    'verification',
    'State of the newest verification',
    ['not_verified', 'pending', 'verified', 'failed'],
    (verification_state) => ({ verification_state }),
  ),
  least('cost', 'Cost in US dollars, such as cost>0.1', (text) =>
    when(dollars(text), (cost_usd_min) => ({ cost_usd_min })),
  ),
  least('tokens', 'Tokens, such as tokens>10k', (text) =>
    when(wholeNumber(text), (total_tokens_min) => ({ total_tokens_min: `${total_tokens_min}` })),
  ),
  least('duration', 'Duration, such as duration>10s', (text) =>
    when(durationMs(text), (duration_ms_min) => ({ duration_ms_min: `${duration_ms_min}` })),
  ),
  least('wasted', 'Wasted US dollars, such as wasted>0.01', (text) =>
    when(dollars(text), (wasted_cost_usd_min) => ({ wasted_cost_usd_min })),
  ),
  least('wasted_tokens', 'Wasted tokens, such as wasted_tokens>1000', (text) =>
    when(wholeNumber(text), (count) => ({ wasted_tokens_min: `${count}` })),
  ),
  {
    name: 'trust',
    about: 'Trust score, such as trust<0.5 or trust>80%',
    operators: ['>=', '<=', '>', '<'],
    read: (text, operator) => {
      const value = share(text)
      if (value === undefined) return 'Expected 0 to 1, or a percentage'
      return operator.startsWith('>') ? { trust_min: value } : { trust_max: value }
    },
  },
]

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
  const plain = value.replaceAll('"', '')
  return /\s/.test(plain) ? `"${plain}"` : plain
}

type Term = { field: string; operator: string; value: string }

function toTerm(text: string): Term | undefined {
  const [, field, operator, value] = /^([a-z_]+)(:|>=|<=|>|<)(.*)$/is.exec(text) ?? []
  if (field === undefined || operator === undefined || value === undefined) return undefined
  return { field: field.toLowerCase(), operator, value: unquote(value) }
}

/**
 * Reads a filter such as `state:failed model:gpt-4.1 cost>0.1 refund`. Words without a field are the
 * beginning of the name. A part that cannot be used is a fault, and the others count.
 */
export function parseTaskFilter(text: string): { query: TaskQuery; faults: FilterFault[] } {
  let query: TaskQuery = {}
  const faults: FilterFault[] = []
  const names: string[] = []
  for (const { at, text: token } of splitFilter(text)) {
    const term = toTerm(token)
    if (term === undefined) {
      names.push(unquote(token))
      continue
    }
    const read = readTerm(term)
    const message = typeof read === 'string' ? read : repeated(query, read, term)
    if (message !== undefined) faults.push({ at, token, message })
    else query = { ...query, ...(read as TaskQuery) }
  }
  const q = names.join(' ').trim().slice(0, 256)
  return { query: q === '' ? query : { ...query, q }, faults }
}

function readTerm({ field: name, operator, value }: Term): TaskQuery | string {
  const field = taskFields.find((each) => each.name === name)
  if (field === undefined) {
    return `“${name}” is not a field. Put the text into quotes to search for it.`
  }
  if (!field.operators.includes(operator)) {
    return `Expected ${field.operators.map((each) => `${name}${each}…`).join(' or ')}`
  }
  if (value === '') return `Expected a value after ${name}${operator}`
  return field.read(value, operator)
}

function repeated(query: TaskQuery, read: TaskQuery, { field }: Term): string | undefined {
  const isTwice = Object.keys(read).some((name) => name in query)
  return isTwice ? `“${field}” is given twice, and a task has to match both` : undefined
}

/** A proposal: the text that replaces the part at the cursor, and what it means. */
export type Proposal = { text: string; about: string; isWhole: boolean }

/** Values that the loaded rows have, by field. */
export type KnownValues = Readonly<Record<string, readonly string[]>>

const proposals_max = 12

/** Proposes fields, or values of the field, for the part of the filter at the cursor. */
export function proposeFilter(
  text: string,
  cursor: number,
  known: KnownValues,
): { from: number; to: number; proposals: Proposal[] } {
  const token = splitFilter(text).find(({ at, text: part }) => {
    return at <= cursor && cursor <= at + part.length
  })
  const [from, to] = token ? [token.at, token.at + token.text.length] : [cursor, cursor]
  const typed = text.slice(from, cursor)
  const term = toTerm(typed)
  if (term === undefined) return { from, to, proposals: proposeFields(unquote(typed)) }
  const field = taskFields.find(({ name }) => name === term.field)
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

function proposeFields(typed: string): Proposal[] {
  const wanted = typed.toLowerCase()
  const starts = taskFields.filter(({ name }) => name.startsWith(wanted))
  return starts.map(({ name, about, operators }) => ({
    text: `${name}${operators.includes(':') ? ':' : '>'}`,
    about,
    isWhole: false,
  }))
}
