/** Replaces the bytes from `from` to before `until` with `text`. */
type BodyEdit = { from: number; until: number; text: string }

const streamKey = '"stream"'
/**
 * The start of the key, for node's native search. It searches a short needle from quote to quote,
 * in a quarter of the time of the whole key.
 */
const streamKeyStart = Buffer.from('"st')
const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const openBracket = 0x5b
const backslash = 0x5c
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

/**
 * Returns the edit that makes a streamed call ask for its usage: it adds
 * `stream_options.include_usage` where `stream` is true and the client did not set it. Returns
 * undefined for a call without a stream, with a choice of its own, or that is not a JSON object.
 *
 * Agrees with JSON.parse about which `stream` counts: only a top-level one, and the last of
 * several. It misses a key with needless escapes (`"\u0073tream"`).
 */
export function findUsageEdit(body: Buffer): BodyEdit | undefined {
  if (!mayStream(body)) return undefined
  const open = skipSpace(body, 0)
  const members = findMembers(body, open, ['stream', 'stream_options'])
  const stream = members?.[0]
  if (!stream || !spells(body, stream, 'true')) return undefined
  const options = members[1]
  if (!options) return insertion(open, '"stream_options":{"include_usage":true},')
  if (spells(body, options, 'null')) {
    return { from: options.from, until: options.until, text: '{"include_usage":true}' }
  }
  return editOfOptions(body, options)
}

/** Returns the body with the edit applied. */
export function applyEdit(body: Buffer, edit: BodyEdit): Buffer {
  return Buffer.concat([
    body.subarray(0, edit.from),
    Buffer.from(edit.text),
    body.subarray(edit.until),
  ])
}

type Span = { from: number; until: number }

/** Searches natively for `"stream": true` anywhere, so that other bodies cost next to nothing. */
function mayStream(body: Buffer): boolean {
  let at = body.indexOf(streamKeyStart)
  while (at !== -1) {
    if (isTrueMember(body, at)) return true
    at = body.indexOf(streamKeyStart, at + streamKeyStart.length)
  }
  return false
}

function isTrueMember(body: Buffer, from: number): boolean {
  const keyEnd = from + streamKey.length
  if (!spells(body, { from, until: keyEnd }, streamKey)) return false
  const separator = skipSpace(body, keyEnd)
  if (body[separator] !== colon) return false
  const value = skipSpace(body, separator + 1)
  return spells(body, { from: value, until: value + 4 }, 'true')
}

function editOfOptions(body: Buffer, options: Span): BodyEdit | undefined {
  if (body[options.from] !== openBrace) return undefined
  const members = findMembers(body, options.from, ['include_usage'])
  if (!members || members[0]) return undefined
  const empty = body[skipSpace(body, options.from + 1)] === closeBrace
  return insertion(options.from, empty ? '"include_usage":true' : '"include_usage":true,')
}

function insertion(open: number, text: string): BodyEdit {
  return { from: open + 1, until: open + 1, text }
}

/**
 * Finds the values of these keys in the object that opens at `open`; the last one of several.
 * Returns undefined for anything but a complete object.
 */
function findMembers(
  body: Buffer,
  open: number,
  keys: readonly string[],
): (Span | undefined)[] | undefined {
  if (body[open] !== openBrace) return undefined
  const found: (Span | undefined)[] = keys.map(() => undefined)
  let at = skipSpace(body, open + 1)
  if (body[at] === closeBrace) return found
  while (at < body.length) {
    if (body[at] !== quote) return undefined
    const keyEnd = skipString(body, at)
    const separator = skipSpace(body, keyEnd)
    if (body[separator] !== colon) return undefined
    const from = skipSpace(body, separator + 1)
    const until = skipValue(body, from)
    const index = keyIndex(body, { from: at, until: keyEnd }, keys)
    if (index !== -1) found[index] = { from, until }
    const next = skipSpace(body, until)
    if (body[next] === closeBrace) return found
    if (body[next] !== comma) return undefined
    at = skipSpace(body, next + 1)
  }
  return undefined
}

function keyIndex(body: Buffer, { from, until }: Span, keys: readonly string[]): number {
  const text = body.toString('latin1', from + 1, until - 1)
  if (!text.includes('\\')) return keys.indexOf(text)
  try {
    return keys.indexOf(JSON.parse(body.toString('utf8', from, until)))
  } catch {
    return -1
  }
}

function spells(body: Buffer, { from, until }: Span, word: string): boolean {
  return until - from === word.length && body.toString('latin1', from, until) === word
}

function skipSpace(body: Buffer, from: number): number {
  let at = from
  while (body[at] === 0x20 || body[at] === 0x0a || body[at] === 0x0d || body[at] === 0x09) at += 1
  return at
}

function skipValue(body: Buffer, from: number): number {
  const first = body[from]
  if (first === quote) return skipString(body, from)
  if (first === openBrace || first === openBracket) return skipNested(body, from)
  let at = from
  while (at < body.length && !endsScalar(body[at])) at += 1
  return at
}

function endsScalar(byte: number | undefined): boolean {
  return (
    byte === comma ||
    byte === closeBrace ||
    byte === closeBracket ||
    byte === 0x20 ||
    byte === 0x0a ||
    byte === 0x0d ||
    byte === 0x09
  )
}

/** Skips an object or array. It counts depth, so that deep nesting uses no stack. */
function skipNested(body: Buffer, from: number): number {
  let depth = 0
  let at = from
  while (at < body.length) {
    const byte = body[at]
    if (byte === quote) {
      at = skipString(body, at)
      continue
    }
    at += 1
    if (byte === openBrace || byte === openBracket) depth += 1
    else if (byte === closeBrace || byte === closeBracket) {
      depth -= 1
      if (depth === 0) return at
    }
  }
  return at
}

/** Characters of a string that are walked byte by byte; the rest is searched natively. */
const walkedStringBytes = 32

function skipString(body: Buffer, from: number): number {
  let at = from + 1
  const walkEnd = Math.min(body.length, at + walkedStringBytes)
  while (at < walkEnd) {
    const byte = body[at]
    if (byte === quote) return at + 1
    at += byte === backslash ? 2 : 1
  }
  return skipLongString(body, at)
}

/** Skips the rest of a string. `from` is inside it, not after an escaping backslash. */
function skipLongString(body: Buffer, from: number): number {
  let close = body.indexOf(quote, from)
  while (close !== -1 && isEscaped(body, close, from)) close = body.indexOf(quote, close + 1)
  return close === -1 ? body.length : close + 1
}

function isEscaped(body: Buffer, at: number, from: number): boolean {
  let before = at
  while (before > from && body[before - 1] === backslash) before -= 1
  return (at - before) % 2 === 1
}
