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
export function decodeText(body: Uint8Array, contentType: string): string | undefined {
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
