import { itemsOf, type JsonObject, objectFrom, parsedJson } from '../../../../kernel/json-values.ts'
import type { ToolFault } from '../contract.ts'
import {
  findTextFault,
  isGuessedTextFault,
  isOutageStatus,
  isOutageText,
  type ToolKind,
  toolKindOf,
} from './text-fault.ts'

/** Facts of a tool use beside its result. */
export type UseFacts = {
  tool: string
  /** Arguments as the model wrote them; '' if unknown. */
  arguments: string
  /** The message's `is_error`, if it has one. */
  is_error: boolean | undefined
  /** Type and message of the error of the tool's own span; undefined if it succeeded. */
  span_error: string | undefined
}

/**
 * Finds the failure of a tool: `outage` if a dependency did not answer (429, 5xx, time-outs,
 * connection errors), otherwise `error`; null if it succeeded or the outcome is unknown.
 *
 * An explicit error flag or span error decides first. Otherwise the result must have the *shape* of
 * an error: an object that is only an error envelope, an exit code, a traceback at the end, or the
 * opening of an error message. A text that merely contains the word, such as a log, a source file
 * or a list of failed jobs, is an ordinary result.
 */
export function findFault(text: string, use: UseFacts): ToolFault | null {
  if (use.span_error !== undefined) return toFault(`${use.span_error}\n${text}`)
  if (use.is_error === false) return null
  if (use.is_error === true) return toFault(text)
  const first = text.trimStart()[0]
  const kind = toolKindOf(use.tool, use.arguments)
  if (first === '{' && text.length <= envelope_chars_max) {
    const object = objectFrom(parsedJson(text))
    if (object !== undefined) return findObjectFault(object, kind)
  }
  return findTextFault(text, kind)
}

/** Tells whether a fault of `findFault` rests on the first words of an output alone. */
export function isGuessedFault(text: string, use: UseFacts): boolean {
  if (use.span_error !== undefined || use.is_error !== undefined) return false
  if (text.trimStart()[0] === '{' && text.length <= envelope_chars_max) {
    if (objectFrom(parsedJson(text)) !== undefined) return false
  }
  return isGuessedTextFault(text, toolKindOf(use.tool, use.arguments))
}

/** Longer objects are data. */
const envelope_chars_max = 65_536
const headline_chars_max = 1_000

function toFault(text: string): ToolFault {
  return isOutageText(text.slice(0, headline_chars_max)) ? 'outage' : 'error'
}

/** Keys of an error envelope; among other keys, `error` is a field of the requested data. */
const envelopeKeys = new Set([
  'error',
  'errors',
  'message',
  'msg',
  'code',
  'status',
  'statuscode',
  'statustext',
  'detail',
  'details',
  'reason',
  'title',
  'type',
  'name',
  'instance',
  'success',
  'ok',
  'iserror',
  'requestid',
  'traceid',
  'timestamp',
  'path',
  'stack',
  'traceback',
  'hint',
  'suggestion',
  'cause',
  'retryafter',
  'retryable',
  'exitcode',
  'field',
  'fields',
  'param',
  'parameter',
  'trace',
  'help',
  'documentationurl',
  'stdout',
  'stderr',
  'tool',
  'data',
  'result',
  'output',
  'content',
])

/** https://www.jsonrpc.org/specification#response_object */
const rpcKeys = new Set(['jsonrpc', 'id'])

function findObjectFault(object: JsonObject, kind: ToolKind): ToolFault | null {
  const keys = new Map(Object.entries(object).map(([key, value]) => [plain(key), value]))
  const said = keys.get('iserror')
  if (said === true) return toFault(wordsOf(keys))
  const exit = keys.get('exitcode') ?? keys.get('returncode') ?? keys.get('exitstatus')
  if (typeof exit === 'number') return exit === 0 ? null : toExitFault(exit, keys)
  const isRpc = keys.has('jsonrpc')
  const isEnvelope = [...keys.keys()].every(
    (key) => envelopeKeys.has(key) || (isRpc && rpcKeys.has(key)),
  )
  if (!isEnvelope || hasData(keys)) return null
  const status = statusOf(keys)
  const failed =
    isGiven(keys.get('error')) ||
    itemsOf(keys.get('errors')).length > 0 ||
    keys.get('success') === false ||
    keys.get('ok') === false ||
    (status >= 400 && status < 600) ||
    (kind !== 'reader' && keys.get('status') === 'error') ||
    isProblemDocument(keys)
  if (!failed) return null
  return isOutageStatus(status) ? 'outage' : toFault(wordsOf(keys))
}

function plain(key: string): string {
  return key.replaceAll(/[-_]/g, '').toLowerCase()
}

/** Tells whether the envelope also carries a result, complete or partial. */
function hasData(keys: ReadonlyMap<string, unknown>): boolean {
  return ['data', 'result', 'output', 'content'].some((key) => isGiven(keys.get(key)))
}

const nothing = new Set<unknown>([undefined, null, false, '', 0, 'none', 'null', 'None', 'false'])

function isGiven(value: unknown): boolean {
  if (nothing.has(value)) return false
  if (Array.isArray(value)) return value.length > 0
  const object = objectFrom(value)
  return object === undefined || Object.keys(object).length > 0
}

/** Recognises a problem document (RFC 9457): type, title and an error status. */
function isProblemDocument(keys: ReadonlyMap<string, unknown>): boolean {
  return keys.has('title') && keys.has('type') && statusOf(keys) >= 400
}

function statusOf(keys: ReadonlyMap<string, unknown>): number {
  const inner = objectFrom(keys.get('error'))
  const codes = [keys.get('statuscode'), keys.get('status'), keys.get('code'), inner?.['code']]
  for (const code of [...codes, inner?.['status']]) {
    const status = typeof code === 'string' && /^\d{3}$/.test(code) ? Number(code) : code
    if (typeof status === 'number' && status >= 100 && status < 600) return status
  }
  return 0
}

const wordKeys = ['error', 'errors', 'message', 'msg', 'detail', 'details', 'reason', 'title']

function wordsOf(keys: ReadonlyMap<string, unknown>): string {
  return wordKeys
    .map((key) => keys.get(key))
    .filter(isGiven)
    .map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
    .join('\n')
}

/** An exit code of 1 without stderr is `grep` without a match or `diff` with one. */
function toExitFault(exit: number, keys: ReadonlyMap<string, unknown>): ToolFault | null {
  const stderr = keys.get('stderr') ?? keys.get('error')
  const reported = isGiven(stderr)
    ? String(stderr)
    : getLastLine(keys.get('stdout') ?? keys.get('output'))
  if (exit === 1 && reported === '') return null
  return exit === 124 ? 'outage' : toFault(reported)
}

function getLastLine(value: unknown): string {
  return typeof value === 'string' ? (value.trimEnd().split('\n').at(-1) ?? '') : ''
}
