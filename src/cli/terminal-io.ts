import { text } from 'node:stream/consumers'
import { styleText } from 'node:util'
import type { CommandIo } from './command.ts'

/** The terminal, or what stands in its place: colours only where it is one and NO_COLOR is not set. */
export function terminalIo(stop: AbortSignal): CommandIo {
  return {
    out: (words) => void process.stdout.write(words),
    err: (words) => void process.stderr.write(words),
    styled: (style, words) => styleText(style, words, { stream: process.stdout }),
    stdin: () => text(process.stdin),
    now_ms: () => Date.now(),
    stop,
  }
}
