const usageKey = Buffer.from('"usage"')
const nullText = Buffer.from('null')
const space = 0x20
const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const openBracket = 0x5b
const backslash = 0x5c
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d
const lineFeed = 0x0a
const carriageReturn = 0x0d

/**
 * The events without the member `"usage":null` that providers put into each chunk when they are
 * asked for usage (https://platform.openai.com/docs/api-reference/chat/create, `stream_options`).
 * Only a member of the outermost object of an event in one line goes. The same buffer when there
 * is none.
 */
export function withoutNullUsage(events: Buffer): Buffer {
  let kept: Buffer[] | undefined
  let from = 0
  let at = events.indexOf(usageKey)
  while (at !== -1) {
    const span = nullMember(events, at)
    if (span !== undefined) {
      kept ??= []
      kept.push(events.subarray(from, span.from))
      from = span.until
    }
    at = events.indexOf(usageKey, at + usageKey.length)
  }
  if (kept === undefined) return events
  kept.push(events.subarray(from))
  return Buffer.concat(kept)
}

const lastMember = Buffer.from(',"usage":null}\n\n')
const afterLastMember = Buffer.from('}\n\n')

/**
 * The same for what comes most, one event whose last member that is, in a third of the time.
 * Undefined for anything else.
 */
export function withoutLastNullUsage(event: Buffer): Buffer | undefined {
  const from = event.length - lastMember.length
  for (let i = 0; i < lastMember.length; i += 1) {
    if (event[from + i] !== lastMember[i]) return undefined
  }
  const isOneLine = event.indexOf(lineFeed) === event.length - 2
  if (!isOneLine || event.indexOf(carriageReturn) !== -1) return undefined
  const left = Buffer.allocUnsafe(from + afterLastMember.length)
  event.copy(left, 0, 0, from)
  left.set(afterLastMember, from)
  return left
}

/** Where the member stands, with the comma that goes with it; undefined when it has to stay. */
function nullMember(bytes: Buffer, key: number): { from: number; until: number } | undefined {
  let at = afterSpace(bytes, key + usageKey.length)
  if (bytes[at] !== colon) return undefined
  at = afterSpace(bytes, at + 1)
  const until = at + nullText.length
  if (nullText.compare(bytes, at, until) !== 0 || !isOutermost(bytes, until)) return undefined
  let before = key - 1
  while (bytes[before] === space) before -= 1
  if (bytes[before] === comma) return { from: before, until }
  if (bytes[before] !== openBrace) return undefined
  const next = afterSpace(bytes, until)
  return { from: key, until: bytes[next] === comma ? next + 1 : until }
}

function afterSpace(bytes: Buffer, from: number): number {
  let at = from
  while (bytes[at] === space) at += 1
  return at
}

/** True when what follows, up to the end of the line, closes one object and no more. */
function isOutermost(bytes: Buffer, from: number): boolean {
  let depth = 1
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at]
    if (byte === lineFeed || byte === carriageReturn) break
    if (byte === quote) at = stringEnd(bytes, at)
    else if (byte === openBrace || byte === openBracket) depth += 1
    else if (byte === closeBrace || byte === closeBracket) depth -= 1
  }
  return depth === 0
}

/** The quote that ends the string which starts at `from`, or the end of the bytes. */
function stringEnd(bytes: Buffer, from: number): number {
  let at = from + 1
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1
  return at
}
