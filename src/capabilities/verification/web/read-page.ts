import { type AnsweringThread, createAnsweringThread } from '../../../platform/threads/index.ts'

/** A question to the thread. `plain` does not look for the article. */
export type PageQuestion = {
  format: 'text' | 'html' | 'json'
  source: string
  way: 'article' | 'plain'
}

/** The text of a page: all of it, and its article without navigation. */
export type PageAnswer = { title: string; text: string; article: string }

/** Reads the text of replies, in a thread with bounded time and memory. */
export type PageReader = {
  /** Rejects with PageRefused when the body is not text that can be read. */
  read(body: Uint8Array, contentType: string, signal?: AbortSignal): Promise<PageAnswer>
  /** Ends the thread. */
  close(): Promise<void>
}

/** A page is not read. The message completes the sentence "The page …". */
export class PageRefused extends Error {
  override readonly name = 'PageRefused'
}

/** Characters of a page that are read. */
const source_chars_max = 4_000_000
/** Pages that wait for the thread: more than a process fetches at one time. */
const waiting_max = 100
/** Heap of the thread: a page of 8 MB with 60,000 tags takes less than half. */
const memory = { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 }

const formats: readonly (readonly [RegExp, PageQuestion['format']])[] = [
  [/^(?:text\/html|application\/xhtml\+xml)$/, 'html'],
  [/^(?:application\/json|application\/[\w.-]+\+json)$/, 'json'],
  [/^text\/(?:plain|markdown|csv|x-markdown)$/, 'text'],
]

/** Creates the reader. Its thread starts with the first page and ends a minute after the last. */
export function createPageReader({ answer_ms_max = 3_000 } = {}): PageReader {
  const thread = createAnsweringThread<PageQuestion, PageAnswer>({
    file: new URL('./page-thread.ts', import.meta.url),
    answer_ms_max,
    memory,
    waiting: { max: waiting_max, refusal: () => new PageRefused('was not read: too many wait.') },
    failed: (cause) => new PageRefused('takes too much time or memory to read.', { cause }),
  })
  return {
    read: async (body, contentType, signal) => {
      const source = decodeText(body, contentType)?.slice(0, source_chars_max)
      if (source === undefined) throw new PageRefused('is binary data.')
      const question = { source, format: formatOf(contentType, source) }
      return ask(thread, question, signal)
    },
    close: () => thread.close(),
  }
}

/** Asks for the article, or for the plain text of a page that exceeds the limits of the thread. */
async function ask(
  thread: AnsweringThread<PageQuestion, PageAnswer>,
  question: Omit<PageQuestion, 'way'>,
  signal: AbortSignal | undefined,
): Promise<PageAnswer> {
  return thread.ask({ ...question, way: 'article' }, signal).catch((error: unknown) => {
    if (!(error instanceof PageRefused)) throw error
    return thread.ask({ ...question, way: 'plain' }, signal)
  })
}

function formatOf(contentType: string, source: string): PageQuestion['format'] {
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  if (type === '') return /^\s*</.test(source) ? 'html' : 'text'
  const format = formats.find(([pattern]) => pattern.test(type))?.[1]
  if (format === undefined)
    throw new PageRefused(`has the type ${type.slice(0, 60)}, expected text.`)
  return format
}

/** Bytes in which a page names its charset (https://html.spec.whatwg.org/#prescan-a-byte-stream). */
const prescan_bytes = 1_024
/** Characters in which control characters are counted, and their greatest share of a text. */
const sample_chars = 65_536
const maxControlShare = 0.01

const marks: readonly (readonly [label: string, bytes: readonly number[]])[] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
]

/**
 * Decodes the body of a reply. A byte order mark wins; then valid UTF-8 with characters beyond
 * ASCII, which no other charset produces by chance; then the charsets that the header and the page
 * name, if the bytes are valid in them; then Windows-1252. Returns undefined for binary data.
 */
function decodeText(body: Uint8Array, contentType: string): string | undefined {
  const marked = marks.find(([, bytes]) => bytes.every((byte, at) => body[at] === byte))
  const text = decode(body, marked === undefined ? chooseCharsets(body, contentType) : [marked[0]])
  return isBinary(text) ? undefined : text
}

function chooseCharsets(body: Uint8Array, contentType: string): string[] {
  const head = new TextDecoder('latin1').decode(body.subarray(0, prescan_bytes))
  const named = [charsetIn(contentType), charsetIn(/<meta[^>]{0,400}/i.exec(head)?.[0] ?? '')]
  const isWide = named[0]?.startsWith('utf-16') === true
  return [...(isWide ? [] : ['utf-8']), ...named.filter((label) => label !== undefined)]
}

function charsetIn(text: string): string | undefined {
  return /charset\s{0,9}=\s{0,9}["']?\s{0,9}([\w.:-]{1,40})/i.exec(text)?.[1]?.toLowerCase()
}

function decode(body: Uint8Array, labels: readonly string[]): string {
  for (const label of labels) {
    const text = decodeAs(body, label)
    if (text !== undefined) return text
  }
  return new TextDecoder('windows-1252').decode(body)
}

/** Returns undefined for an unknown charset, and for bytes that are not valid in it. */
function decodeAs(body: Uint8Array, label: string): string | undefined {
  try {
    return new TextDecoder(label, { fatal: true }).decode(body)
  } catch {
    return undefined
  }
}

function isBinary(text: string): boolean {
  const sample = text.slice(0, sample_chars)
  const controls = sample.match(/(?!\s)[\p{Cc}\ufffd]/gu)
  return (controls?.length ?? 0) > sample.length * maxControlShare
}
