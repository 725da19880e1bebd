const usageKey = Buffer.from('"usage"')
const lineFeed = 0x0a
const carriageReturn = 0x0d
/** An event longer than this cannot be a usage chunk: it passes without being held back. */
const maxHeldEventBytes = 64 * 1024

/**
 * Removes from an event stream what is there only because the proxy asked for usage: the usage
 * chunk (no choices, a usage object) and `"usage":null` in the others. All other bytes pass
 * unchanged. An incomplete event is held back, since only a complete one can be judged. A network
 * chunk of complete events without that chunk passes uncopied.
 */
export class UsageChunkFilter {
  #held: Buffer | undefined
  /** True inside an event that is too long to be held back. */
  #passing = false

  /** Returns the bytes to pass on now, or undefined. */
  push(chunk: Buffer): Buffer | undefined {
    if (this.#held === undefined && !this.#passing) {
      const usual = removeLastNullUsage(chunk)
      if (usual !== undefined) return usual
      if (!endsEvent(chunk)) return this.#sift(chunk)
      if (!chunk.includes(usageKey)) return chunk
      return mayHoldUsage(chunk) ? this.#sift(chunk) : removeNullUsage(chunk)
    }
    if (this.#passing) return this.#passOn(chunk)
    const bytes = this.#held === undefined ? chunk : Buffer.concat([this.#held, chunk])
    return this.#sift(bytes)
  }

  /** Returns the bytes held back at the end of the stream; undefined for none, or a usage chunk. */
  end(): Buffer | undefined {
    const held = this.#held
    this.#held = undefined
    return held === undefined || isUsageChunk(held) ? undefined : removeNullUsage(held)
  }

  #sift(bytes: Buffer): Buffer | undefined {
    const kept: Buffer[] = []
    let keptFrom = 0
    let from = 0
    for (let until = eventEnd(bytes, 0); until !== -1; until = eventEnd(bytes, from)) {
      if (isUsageChunk(bytes.subarray(from, until))) {
        if (from > keptFrom) kept.push(bytes.subarray(keptFrom, from))
        keptFrom = until
      }
      from = until
    }
    this.#held = from < bytes.length ? bytes.subarray(from) : undefined
    if (bytes.length - from > maxHeldEventBytes) {
      this.#held = undefined
      this.#passing = true
      from = bytes.length
    }
    if (from > keptFrom) kept.push(bytes.subarray(keptFrom, from))
    const all = kept.length > 1 ? Buffer.concat(kept) : kept[0]
    return all && removeNullUsage(all)
  }

  /** Passes the rest of an event that is too long, then filters again. */
  #passOn(chunk: Buffer): Buffer {
    const until = eventEnd(chunk, 0)
    if (until === -1) return chunk
    this.#passing = false
    if (until === chunk.length) return chunk
    const rest = this.#sift(chunk.subarray(until))
    return rest === undefined
      ? chunk.subarray(0, until)
      : Buffer.concat([chunk.subarray(0, until), rest])
  }
}

/** Returns true when the bytes end with the blank line that ends an event. */
export function endsEvent(bytes: Buffer): boolean {
  const end = bytes.length
  if (bytes[end - 1] !== lineFeed) return false
  return bytes[end - 2] === carriageReturn
    ? bytes[end - 3] === lineFeed
    : bytes[end - 2] === lineFeed
}

/**
 * Returns the end of the event that starts at `from`, after its blank line; -1 when it is
 * incomplete. A carriage return as the last byte waits for a possible line feed.
 */
function eventEnd(bytes: Buffer, from: number): number {
  let lineFrom = from
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at]
    if (byte !== lineFeed && byte !== carriageReturn) continue
    const blank = at === lineFrom
    if (byte === carriageReturn) {
      if (at + 1 === bytes.length) return -1
      if (bytes[at + 1] === lineFeed) at += 1
    }
    lineFrom = at + 1
    if (blank) return lineFrom
  }
  return -1
}

/** Returns true when the bytes contain a `"usage"` with a value other than null. */
function mayHoldUsage(bytes: Buffer): boolean {
  let at = bytes.indexOf(usageKey)
  while (at !== -1) {
    if (!isNullMember(bytes, at + usageKey.length)) return true
    at = bytes.indexOf(usageKey, at + usageKey.length)
  }
  return false
}

function isNullMember(bytes: Buffer, from: number): boolean {
  let at = from
  while (bytes[at] === 0x20) at += 1
  if (bytes[at] !== 0x3a) return false
  at += 1
  while (bytes[at] === 0x20) at += 1
  return bytes.toString('latin1', at, at + 4) === 'null'
}

function isUsageChunk(event: Buffer): boolean {
  if (!mayHoldUsage(event)) return false
  try {
    const chunk: unknown = JSON.parse(eventData(event))
    if (typeof chunk !== 'object' || chunk === null) return false
    const { choices, usage } = chunk as { choices?: unknown; usage?: unknown }
    const isEmpty = Array.isArray(choices) && choices.length === 0
    return isEmpty && typeof usage === 'object' && usage !== null
  } catch {
    return false
  }
}

/** Returns the data of an event: its `data` lines, joined. */
function eventData(event: Buffer): string {
  const data: string[] = []
  for (const line of event
    .toString('utf8')
    .replace(/^\ufeff/, '')
    .split(/\r\n|\n|\r/)) {
    if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5))
  }
  return data.join('\n')
}

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

/**
 * Removes the member `"usage":null`, which providers put into each chunk when asked for usage
 * (https://platform.openai.com/docs/api-reference/chat/create, `stream_options`). Only a member of
 * the outermost object of a one-line event is removed. Without it the same buffer is returned.
 */
export function removeNullUsage(events: Buffer): Buffer {
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
 * Does the same for the most frequent case, one event that ends with this member, in a third of the
 * time. Returns undefined in any other case.
 */
export function removeLastNullUsage(event: Buffer): Buffer | undefined {
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

/** Returns the range of the member with its comma; undefined when it must stay. */
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

/** Returns true when the rest of the line closes exactly one object. */
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

/** Returns the position of the quote that ends the string at `from`, or the end of the bytes. */
function stringEnd(bytes: Buffer, from: number): number {
  let at = from + 1
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1
  return at
}
