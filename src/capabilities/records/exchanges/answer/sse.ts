import { StringDecoder } from 'node:string_decoder'

/** One server-sent event. `event` is empty when the stream named none. */
export type SseEvent = { event: string; data: string }

/** Parses the bytes of a stream in pieces of any size; passes on each complete event. */
type SseParser = {
  push(bytes: Uint8Array): void
  /**
   * Ends the stream. An event without a closing blank line is passed on too, as in a cut stream.
   */
  end(): void
}

/**
 * Creates a parser after WHATWG HTML, "Interpreting an event stream": lines end in CRLF, LF or CR;
 * `data` lines are joined with LF; comments, `id` and `retry` are ignored.
 */
export function createSseParser(onEvent: (event: SseEvent) => void): SseParser {
  const decoder = new StringDecoder('utf8')
  const fields: { event: string; data: string | undefined } = { event: '', data: undefined }
  let rest = ''
  let heldReturn = ''
  let started = false

  const takeLine = (line: string) => {
    if (line !== '') return takeField(line, fields)
    if (fields.data !== undefined) onEvent({ event: fields.event, data: fields.data })
    fields.event = ''
    fields.data = undefined
  }
  const takeText = (text: string) => {
    let from = 0
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', from)) {
      takeLine(text.slice(from, end))
      from = end + 1
    }
    rest = from === 0 ? text : text.slice(from)
  }
  return {
    push(bytes) {
      let text = decoder.write(bytes)
      if (text === '') return
      if (!started && text.startsWith('\uFEFF')) text = text.slice(1)
      started = true
      text = heldReturn + text
      heldReturn = text.endsWith('\r') ? '\r' : ''
      takeText(rest + withLineFeeds(heldReturn === '' ? text : text.slice(0, -1)))
    },
    end() {
      takeText(rest + withLineFeeds(heldReturn + decoder.end()))
      if (rest !== '') takeLine(rest)
      takeLine('')
    },
  }
}

function withLineFeeds(text: string): string {
  return text.includes('\r') ? text.replaceAll(/\r\n?/g, '\n') : text
}

function takeField(line: string, fields: { event: string; data: string | undefined }): void {
  if (line.startsWith('data:')) {
    const value = line.slice(line.charAt(5) === ' ' ? 6 : 5)
    fields.data = fields.data === undefined ? value : `${fields.data}\n${value}`
  } else if (line.startsWith('event:')) {
    fields.event = line.slice(line.charAt(6) === ' ' ? 7 : 6)
  } else if (line === 'data') {
    fields.data = fields.data === undefined ? '' : `${fields.data}\n`
  }
}
