import {
  type JsonObject,
  jsonText,
  objectFrom,
  objectsIn,
  parsedJson,
} from '../../../../kernel/json-values.ts'
import { isSpeech, type TextAction, type TextFormat } from './text-action.ts'

/** Keys that name a tool, and keys of its arguments. */
const nameKeys = [
  ...['tool', 'tool_name', 'toolName', 'function', 'function_name', 'fn', 'func', 'command'],
  ...['action', 'api', 'method', 'operation', 'op', 'call', 'skill', 'cmd', 'use', 'name'],
]
const argumentKeys = [
  ...['args', 'arguments', 'input', 'parameters', 'params', 'action_input', 'actionInput'],
  ...['tool_input', 'tool_args', 'payload', 'kwargs', 'data', 'inputs', 'argument', 'p', 'with'],
]
const wrapperKeys = ['tool_call', 'tool_calls', 'function_call', 'actions', 'calls', 'steps']

/**
 * Reads the actions of an answer in JSON: an object that is the answer, in a code block, or on lines
 * of its own. `format`: undefined reads only objects that name a tool and its arguments.
 */
export function readJsonActions(text: string, format: TextFormat | undefined): TextAction[] {
  return findObjects(text).flatMap((object) => toActions(object, format, 0))
}

const fence = /```[a-z]{0,8}[ \t]*\n?([\s\S]*?)```/gi
const objects_max = 16

function findObjects(text: string): JsonObject[] {
  const whole = readObjects(text.trim())
  if (whole.length > 0) return whole
  if (!text.includes('{')) return []
  const fenced = [...text.matchAll(fence)].slice(0, objects_max)
  const inFences = fenced.flatMap(([, inner = '']) => readObjects(inner.trim()))
  if (inFences.length > 0 || fenced.length > 0) return inFences
  return findLineObjects(text)
}

/** Finds objects that begin a line, after a label or not, each ending a line. */
function findLineObjects(text: string): JsonObject[] {
  const objects: JsonObject[] = []
  const lines = text.split('\n')
  for (let at = 0; at < lines.length && objects.length < objects_max; at++) {
    const begin = lines[at]?.search(/(?:^|[:=>] ?)\s*\{/) ?? -1
    if (begin === -1) continue
    const first = (lines[at] ?? '').slice((lines[at] ?? '').indexOf('{', begin))
    const one = readObjects(first.trim())
    const more =
      one.length > 0 ? one : readObjects([first, ...lines.slice(at + 1)].join('\n').trim())
    objects.push(...more)
    if (one.length === 0) return objects
  }
  return objects
}

function readObjects(text: string): JsonObject[] {
  if (text[0] !== '{' && text[0] !== '[') return []
  const value = parsedJson(text)
  const object = objectFrom(value)
  return object === undefined ? objectsIn(value).slice(0, objects_max) : [object]
}

const depth_max = 3

function toActions(
  object: JsonObject,
  format: TextFormat | undefined,
  depth: number,
): TextAction[] {
  if (depth > depth_max) return []
  for (const key of wrapperKeys) {
    const inner = object[key]
    const list = Array.isArray(inner) ? objectsIn(inner) : [objectFrom(inner)]
    const actions = list.flatMap((one) =>
      one === undefined ? [] : toActions(one, format, depth + 1),
    )
    if (actions.length > 0) return actions
  }
  for (const key of depth > 0 ? [...nameKeys, 'type'] : nameKeys) {
    const action = readNamed(object, key, format, depth)
    if (action !== undefined) return action
  }
  return format === undefined ? [] : readKeyed(object, format)
}

/** Reads the action that a key names; undefined if the key names none. */
function readNamed(
  object: JsonObject,
  key: string,
  format: TextFormat | undefined,
  depth: number,
): TextAction[] | undefined {
  const given = object[key]
  const inner = objectFrom(given) ?? objectFrom(Array.isArray(given) ? given[0] : undefined)
  if (inner !== undefined) {
    const actions = toActions(inner, format, depth + 1)
    if (actions.length > 0) return actions
    return key === 'action' ? readPlanned(given, inner) : undefined
  }
  if (typeof given !== 'string' || !isName(given, key)) return undefined
  const argumentKey = argumentKeys.find((one) => one in object)
  // A name alone is a field of data, and an action alone a word of a classifier.
  const isKnown = format !== undefined && (key !== 'name' || format.words.has(given))
  if (argumentKey === undefined && !isKnown) return undefined
  if (isSpeech(given)) return []
  const args = argumentKey === undefined ? readRest(object, key) : toJson(object[argumentKey])
  return [{ name: given.trim(), args }]
}

/** Tells whether a text names a tool; a `command` with spaces is the command itself. */
function isName(given: string, key: string): boolean {
  if (given === '' || given.length > name_chars_max) return false
  return !/\s/.test(given.trim()) || (key !== 'cmd' && key !== 'command')
}

const name_chars_max = 128

/** Browser Use plans a list of actions, each an object whose key is the action. */
function readPlanned(action: unknown, first: JsonObject): TextAction[] | undefined {
  const [name] = Object.keys(first)
  return name === undefined ? undefined : [{ name, args: jsonText({ action }) }]
}

/** Reads an object of one key that the instructions name: `{"run": "<command>"}`. */
function readKeyed(object: JsonObject, { keys, words }: TextFormat): TextAction[] {
  const own = Object.entries(object).filter(([key]) => !isSpeech(key))
  const [[name, value] = ['', undefined], ...more] = own
  if (more.length > 0 || value === null || value === undefined) return []
  if (!keys.has(name) && !(words.has(name) && name.includes('_'))) return []
  if (Object.keys(object).some((key) => isAnswer(key))) return []
  return [{ name, args: toJson(value) }]
}

function isAnswer(key: string): boolean {
  return /^(?:final_?)?answer$/i.test(key)
}

function toJson(value: unknown): string {
  if (objectFrom(value) !== undefined) return jsonText(value)
  if (value === null || value === undefined || value === '') return '{}'
  return typeof value === 'string' && value.trimStart()[0] === '{' && objectFrom(parsedJson(value))
    ? value
    : jsonText({ input: value })
}

function readRest(object: JsonObject, key: string): string {
  const rest = Object.entries(object).filter(([other]) => other !== key && !isSpeech(other))
  return jsonText(Object.fromEntries(rest))
}
