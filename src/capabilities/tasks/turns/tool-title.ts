import { itemsOf, objectFrom, parsedJson } from '../../../kernel/json-values.ts'

/** Maximum characters of the argument in a title. */
const value_chars_max = 100
/** Maximum characters of arguments that are read, and of keys that are compared. */
const arguments_chars_max = 20_000
const keys_max = 200

/**
 * Names of arguments that say what a tool use is about, the best first. Sources: the tools of coding
 * agents, search engines, browsers and mail.
 */
const mainKeys = [
  ...['command', 'cmd', 'query', 'search_query', 'q', 'queries', 'search_term', 'pattern'],
  ...['question', 'description', 'task', 'goal', 'prompt', 'instruction', 'instructions'],
  ...['file_path', 'filepath', 'path', 'filename', 'file', 'url', 'uri', 'sql', 'expression'],
  ...['subject', 'title', 'topic', 'to', 'recipient', 'name', 'location', 'city', 'symbol'],
  ...['message', 'text', 'content', 'thought', 'code', 'input', 'value', 'id'],
]
const ranks: ReadonlyMap<string, number> = new Map(mainKeys.map((key, rank) => [key, rank]))

/**
 * Returns the title of a tool use by its main argument: `search: refund for a cracked hopper`; the
 * name alone without one. Pure; arguments that were cut are read as far as they go.
 */
export function titleOfTool(name: string, args: string | null): string {
  const value = args === null ? '' : findMainValue(args.slice(0, arguments_chars_max))
  const shown = cutValue(value)
  if (shown === '') return name
  return name === '' ? shown : `${name}: ${shown}`
}

function findMainValue(args: string): string {
  const parsed = parsedJson(args)
  const object = objectFrom(parsed) ?? (args.trimStart()[0] === '{' ? readCut(args) : undefined)
  if (object !== undefined) return findMainField(object, 0)
  if (parsed === undefined) return args
  return toText(parsed, 0)
}

/** Maximum nesting of objects around the main argument. */
const depth_max = 3

function findMainField(object: Readonly<Record<string, unknown>>, depth: number): string {
  const fields = Object.entries(object).slice(0, keys_max)
  const known = fields
    .flatMap(([key, value]) => {
      const rank = ranks.get(toSnakeCase(key))
      const text = rank === undefined ? '' : toText(value, depth)
      return rank === undefined || text === '' ? [] : [{ rank, text }]
    })
    .toSorted((a, b) => a.rank - b.rank)[0]
  if (known !== undefined) return known.text
  const isId = ([key, value]: [string, unknown]) =>
    /(?:^|_)id$/.test(toSnakeCase(key)) && isPlain(value)
  const named =
    fields.find(isId) ??
    fields.find(([, value]) => typeof value === 'string' && value.trim() !== '')
  const first = named ?? fields.find(([, value]) => isPlain(value)) ?? fields[0]
  if (first === undefined) return ''
  // A bare number or flag says nothing without its name.
  const text = toText(first[1], depth)
  return text === '' || typeof first[1] === 'string' || named !== undefined
    ? text
    : `${first[0]} ${text}`
}

function isPlain(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}

/** Returns a value as text: lists of words as one line, objects by their main field. */
function toText(value: unknown, depth: number): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return `${value}`
  if (depth >= depth_max) return ''
  const items = itemsOf(value).slice(0, keys_max)
  if (items.length > 0)
    return items
      .map((item) => toText(item, depth + 1))
      .filter(Boolean)
      .join(' ')
  const object = objectFrom(value)
  return object === undefined ? '' : findMainField(object, depth + 1)
}

function toSnakeCase(key: string): string {
  return key
    .slice(0, 64)
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll('-', '_')
    .toLowerCase()
}

/** A field at the beginning of an object: its text may be cut. */
const field = /"([^"\\]{1,64})"\s*:\s*(?:"((?:[^"\\]|\\.){0,400})|(-?\d[\d.]{0,30}|true|false))/g
const maxCutFields = 20

/** Reads the fields of an object whose end is missing. */
function readCut(args: string): Record<string, unknown> {
  const found = new Map<string, string>()
  for (const [, key = '', text, plain] of args.slice(0, 4_000).matchAll(field)) {
    if (found.size >= maxCutFields) break
    if (!found.has(key)) found.set(key, text === undefined ? (plain ?? '') : unescapeText(text))
  }
  return Object.fromEntries(found)
}

function unescapeText(text: string): string {
  const parsed = parsedJson(`"${text}"`)
  return typeof parsed === 'string' ? parsed : text
}

function cutValue(value: string): string {
  const line = value.slice(0, 1_000).replace(/\s+/g, ' ').trim()
  if (line.length <= value_chars_max) return line.toWellFormed()
  return `${line.slice(0, value_chars_max - 1).toWellFormed()}…`
}
