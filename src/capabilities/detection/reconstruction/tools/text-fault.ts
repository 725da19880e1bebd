import type { ToolFault } from '../contract.ts'

/** Finds the failure of a tool by the shape of its text result; see `findFault`. */
export function findTextFault(text: string, kind: ToolKind): ToolFault | null {
  const head = text.slice(0, end_chars_max)
  const tail = text.length > end_chars_max ? text.slice(-end_chars_max) : head
  const exit = findExitCode(head, tail)
  if (exit === 0) return null
  if (exit !== undefined) return toExitFault(exit, tail)
  if (wrapped.test(head)) return toTextFault(head)
  if (kind !== 'reader' && endsInTraceback(text, tail)) return toTextFault(getLastLine(tail))
  if (text.length > message_chars_max) return null
  const message = head.trim()
  const lines = message.split('\n', lines_max + 1).length
  if (lines > (kind === 'reader' ? maxReaderLines : lines_max)) return null
  return beginsAsError(message) ? toTextFault(message.slice(0, headline_chars_max)) : null
}

/**
 * Tells whether the fault of a text is a guess: the output of a command or a reader, or of several
 * lines, that begins like an error, or a verdict such as “REJECTED: …”, without an exit code, a wrapper or a traceback at its end. It
 * can be what was asked for, such as the lines that `grep ERROR` found.
 */
export function isGuessedTextFault(text: string, kind: ToolKind): boolean {
  const head = text.slice(0, end_chars_max)
  const tail = text.length > end_chars_max ? text.slice(-end_chars_max) : head
  if (findExitCode(head, tail) !== undefined || wrapped.test(head)) return false
  if (kind !== 'reader' && endsInTraceback(text, tail)) return false
  const message = head.trim()
  if (kind !== 'other') return !programErrors.some((error) => error.test(message))
  if (guessedCode.test(message) || verdicts.some((verdict) => verdict.test(message))) return true
  return message.split('\n', maxReaderLines + 1).length > maxReaderLines
}

/** Exit codes and tracebacks are at the start or end of a text. */
const end_chars_max = 2_000
/** Error messages are short; longer texts quote something. */
const message_chars_max = 4_000
const lines_max = 40
const maxReaderLines = 3
const headline_chars_max = 400

function toTextFault(text: string): ToolFault {
  return isOutageText(text) ? 'outage' : 'error'
}

const exitAtStart =
  /^\s*[[(<]?(?:command |process |program |script )?(?:failed |exited |finished |completed |returned )?(?:with )?(?:a )?(?:non-zero )?(?:exit|return)[ _-]?(?:code|status)?[ :=>]{1,3}(\d{1,3})\b/i
const exitInLine =
  /^\s*[[(<]?(?:the )?(?:command |process |program |script )?(?:failed |exited |finished |completed |returned )?(?:with )?(?:a )?(?:non-zero )?(?:exit|return)[ _-]?(?:code|status)?[ :=>]{1,3}(\d{1,3})[\])<.]?(?:\/?[a-z_]{0,12}>)?\s*$/i

/** Reads the exit code from the first line or one of the last three. */
function findExitCode(head: string, tail: string): number | undefined {
  const first = exitAtStart.exec(head.trimStart().split('\n', 1)[0] ?? '')
  if (first?.[1] !== undefined) return Number(first[1])
  for (const line of tail.trimEnd().split('\n').slice(-3)) {
    const found = exitInLine.exec(line.slice(0, 200))
    if (found?.[1] !== undefined) return Number(found[1])
  }
  return undefined
}

/** An exit code of 1 without a message is `grep` without a match. */
function toExitFault(exit: number, tail: string): ToolFault | null {
  const said = tail.split('\n').filter((line) => line.trim() !== '' && !exitAtStart.test(line))
  const words = said.filter((line) => !emptyOutput.test(line))
  if (exit === 1 && words.length === 0) return null
  if (exit === 124) return 'outage'
  return toTextFault(words.slice(-2).join('\n').slice(-headline_chars_max))
}

const emptyOutput =
  /^\s*[[(<]?(?:stdout|stderr|output|no output|empty)\b[^a-z]{0,10}(?:output)?[\])>]?\s*$/i

/** Wrappers that agent SDKs put around a tool's error. */
const wrapped = /^\s*<(?:tool_use_error|error|tool_error)>|^\s*\[(?:tool )?error\]/i

const errorLine = /^(?:[A-Za-z_][\w.]{0,100})?(?:Error|Exception|Exit|Interrupt|Panic)\b(?::|$)/
const traceStart =
  /^(?:Traceback \(most recent call last\):|Exception in thread "|panic: |Uncaught )/m

/** Tells whether a text ends in a traceback; a text that continues after one only quotes it. */
function endsInTraceback(text: string, tail: string): boolean {
  const last = getLastLine(tail)
  if (!errorLine.test(last) && !/^\s+at /.test(last) && !/^exit status \d/.test(last)) return false
  const begin = text.slice(-trace_chars_max)
  return traceStart.test(begin) || traceStart.test(text.slice(0, end_chars_max))
}

const trace_chars_max = 16_384

function getLastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? ''
}

/** Errors as shells and programs print them, with their own name. */
const programErrors = [
  /^(?:curl: \(\d{1,2}\)|(?:ssh|scp|wget|nc|ping): )/,
  /^(?:\/?[\w./-]{1,60}: )(?:line \d{1,6}: |\d{1,6}: )?[^\n]{0,200}(?:command not found|not found|No such file or directory|Permission denied|Is a directory|Not a directory|cannot access|syntax error)/,
]

/**
 * Verdicts before a message. They can be about what was asked for, such as an application that was
 * rejected; alone, or before a number, they are.
 */
const verdicts = [
  /^(?:FAILED|FAILURE|REFUSED|REJECTED|DENIED)\s?[:–—-] ?(?!none\b|null\b|no\s*(?:$|[.,;]))(?=\p{L})/u,
  /^(?:refused|denied)\s?: ?(?!none\b|null\b|no\s*(?:$|[.,;]))(?=\p{L})/iu,
]
const guessedCode = /^(?:FAILED|DENIED|REFUSED|REJECTED)_|^ERROR$/

/** A time-out, as tools in other languages report it. */
const timeOut =
  /^(?:zeitüberschreitung|délai (?:dépassé|d'attente)|tiempo de espera|tempo scaduto|请求超时|タイムアウト)/i

/** Openings of error messages: the name of an error and a colon, or phrases of tools and shells. */
const beginnings = [
  /^(?:the )?(?:tool |execution |runtime |internal |unexpected |fatal |http |api |request )?error(?: code)?\s?(?:\(?\d{3}\)?)?\s?:(?!\s*(?:none|null|0|no|false|nil|n\/a)\s*(?:$|[.,;\n]))/i,
  /^[A-Za-z_][\w.]{0,80}(?:Error|Exception|Failure)(?: \[[A-Z_]{2,40}\])?\s?:(?!:)/,
  /^(?:uncaught )?(?:exception|panic|fatal)\s?:/i,
  /^E(?:ACCES|ADDRINUSE|ADDRNOTAVAIL|AGAIN|AI_AGAIN|BADF|BUSY|CANCELED|CONN(?:ABORTED|REFUSED|RESET)|DQUOT|EXIST|FBIG|HOSTUNREACH|INTEGRITY|INVAL|IO|ISDIR|LOOP|MFILE|NAMETOOLONG|NETUNREACH|NFILE|NODEV|NOENT|NOMEM|NOSPC|NOTDIR|NOTEMPTY|NOTFOUND|NOTSUP|NXIO|PERM|PIPE|PROTO|RESOLVE|ROFS|SRCH|STALE|TIMEDOUT|XDEV): /,
  /^(?:ERR|ERROR|INVALID|FAILED|DENIED|REFUSED|REJECTED)(?:_[A-Z0-9]+){1,6}\b(?!\s?[:=]\s?(?:\d+(?:[.,]\d+)?\s*(?:$|[^\s\p{L}\d])|none\b|null\b|no\s*(?:$|[.,;])|\[\]))/u,
  /^ERROR\b(?! ?[:=]? ?(?:0|none|null|no)\b)(?! [\p{L} ]{1,60}[:=] ?\d)/u,
  ...verdicts,
  /^error (?:executing|running|calling|invoking|reading|writing|opening|accessing|fetching|parsing|while|during|in tool)\b/i,
  /^(?:[A-Za-z]{2,20} )?error (?:code )?-?\d{1,6}\s?:/i,
  /^error from server\b/i,
  /^(?:fehler|erreur|errore|erro|fout|błąd|ошибка|エラー|错误|오류)\s?[:：]/i,
  ...programErrors,
  /^(?:failed|unable) to [a-z]+/i,
  /^(?:could not|couldn't|cannot|can't) (?:find|open|read|write|connect|parse|access|execute|resolve|load|create|delete)\b/i,
  /^(?:tool|function|command|request|operation|call) ['"`]?[\w./-]{0,80}['"`]? ?(?:failed|not found|timed out|does not exist|is not (?:defined|available|recognized))\b/i,
  /^(?:unknown|no such|invalid) (?:tool|function|command|argument|arguments|parameter|parameters|input|file|file or directory)\b/i,
  /^(?:HTTP(?:\/[12](?:\.[01])?)? ?)?(?:status )?(?:code )?[45]\d{2} (?:[A-Z][a-z]+|error|gateway time-?out|bad gateway|internal server)/,
  /^HTTP(?:\/[12](?:\.[01])?)? [45]\d{2}(?:\s*[:{]|\s*$)/,
  /^error (?:code )?[45]\d{2}\s*$/i,
  timeOut,
  /^(?:permission denied|access denied|not found|unauthorized|forbidden|too many requests|service unavailable|bad gateway|gateway time-?out|internal server error|connection (?:refused|reset|error)|timed out|timeout)\b(?:[.:!]|$)/im,
  /^Traceback \(most recent call last\):/,
]

function beginsAsError(message: string): boolean {
  const start = message.slice(0, headline_chars_max)
  return beginnings.some((beginning) => beginning.test(start))
}

/**
 * Tells whether an error text describes an outage: too many requests, a server failure, a time-out,
 * a failed connection.
 */
export function isOutageText(text: string): boolean {
  return outageWords.test(text) || timeOut.test(text)
}

/** 408, 425, 429 and 5xx, except 501 and 505, which a retry does not change. */
export function isOutageStatus(status: number): boolean {
  if (status === 408 || status === 425 || status === 429) return true
  return status >= 500 && status < 600 && status !== 501 && status !== 505
}

const outageWords = new RegExp(
  [
    String.raw`\b(?:status|code|http|error|http/[12](?:\.[01])?)["']?[ :=(]{1,4}(?:code["']?[ :=]{1,3})?(?:408|425|429|500|502|503|504|520|521|522|523|524|529)\b`,
    String.raw`^\s*(?:429|500|502|503|504|529)\b`,
    'too many requests|rate[- _]?limit(?:ed|s)?(?: exceeded| reached)?|quota exceeded',
    'service (?:is )?(?:temporarily )?unavailable|bad gateway|gateway time-?out',
    'internal server error|temporarily unavailable|overloaded(?:_error)?',
    String.raw`timed? ?out|\btimeout(?:error)?\b|deadline exceeded`,
    String.raw`\be(?:timedout|connrefused|connreset|hostunreach|netunreach|ai_again|pipe)\b|\benotfound\b`,
    String.raw`connection (?:was )?(?:refused|reset|aborted|closed|error|failed|lost)|\bconnection ?error\b`,
    'socket hang up|network (?:is )?unreachable|no route to host|could not resolve host',
    'temporary failure in name resolution|name or service not known|fetch failed',
  ].join('|'),
  'i',
)

/**
 * How to read a tool's result: a `reader` quotes other texts (files, logs, pages, search results),
 * so its words say nothing about its outcome; a `shell` reports its outcome as an exit code.
 */
export type ToolKind = 'reader' | 'shell' | 'other'

/** Reads the kind from the tool's name, and for a shell from the first command in its arguments. */
export function toolKindOf(tool: string, args: string): ToolKind {
  const words = tool
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
  if (words.some((word) => shellWords.has(word))) return readsOnly(args) ? 'reader' : 'shell'
  return words.some((word) => readerWords.has(word)) ? 'reader' : 'other'
}

const shellWords = new Set(['bash', 'shell', 'sh', 'exec', 'execute', 'terminal', 'command', 'cmd'])
const readerWords = new Set([
  'read',
  'cat',
  'view',
  'open',
  'grep',
  'search',
  'find',
  'fetch',
  'browse',
  'log',
  'logs',
  'tail',
  'show',
  'diff',
  'scrape',
  'retrieve',
  'history',
])

/** Commands that print existing texts, as the first word of the command. */
const readingCommand =
  /^\s*\{?\s*(?:"(?:command|cmd|script|input|code)"\s*:\s*)?\[?"?\s*(?:sudo )?(?:cat|tail|head|less|more|grep|rg|ag|sed -n|awk|journalctl|dmesg|git (?:log|show|diff|blame|grep)|kubectl logs|docker logs|find)\b/

function readsOnly(args: string): boolean {
  return readingCommand.test(args.slice(0, 200))
}
