import type { StreamShape } from './script.ts'
import type { StreamEvent } from './stream-events.ts'

type Style = Pick<StreamShape, 'crlf' | 'no_space_after_data' | 'multi_line_data'>

/** The bytes of one server-sent event (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
export function encodedEvent({ event, data }: StreamEvent, style: Style): Buffer {
  const newline = style.crlf ? '\r\n' : '\n'
  const space = style.no_space_after_data ? '' : ' '
  const text = typeof data === 'string' ? data : JSON.stringify(data, null, indentOf(style))
  const lines = text.split('\n').map((line) => `data:${space}${line}`)
  const named = event === undefined ? lines : [`event:${space}${event}`, ...lines]
  return Buffer.from(named.join(newline) + newline + newline)
}

/** A comment, as servers send them to keep a connection open. */
export function encodedComment(text: string, style: Style): Buffer {
  const newline = style.crlf ? '\r\n' : '\n'
  return Buffer.from(`: ${text}${newline}${newline}`)
}

function indentOf(style: Style): number {
  return style.multi_line_data ? 1 : 0
}
