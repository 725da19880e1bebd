import type { GatherTarget } from './compiled-contract.ts'
import type { FieldRule, Source } from './contracts/contract-shape.ts'
import { type ReaderContext, readerOf } from './field-readers.ts'
import { type Gathered, messagesOf } from './gathered-messages.ts'
import { toolCallsIn, toolResultsIn } from './tool-traffic.ts'
import { decoded, plainOf, textOf } from './value-text.ts'

/** Compiles how a field is read from gathered attributes. */
export function gatherReader(
  source: Source,
  rule: FieldRule,
  context: ReaderContext,
): GatherTarget['read'] {
  if (source.transform === 'system_then_messages') return systemThenMessages
  if (source.from === 'attributes') {
    const read = readerOf(source, rule, context)
    return ({ values }, state) => read(values[0] ?? null, state)
  }
  const { limits } = context.contract
  if (rule.reads === 'tool_calls') {
    return (gathered) => unlessEmpty(toolCallsIn(messagesOf(gathered), limits))
  }
  if (rule.reads === 'tool_results') {
    return (gathered) => unlessEmpty(toolResultsIn(messagesOf(gathered), limits))
  }
  return (gathered) => {
    const list = messagesOf(gathered)
    return list.length === 0 ? undefined : JSON.stringify(list)
  }
}

function unlessEmpty<Item>(list: readonly Item[]): readonly Item[] | undefined {
  return list.length === 0 ? undefined : list
}

const system = 'gen_ai.system_instructions'
const asked = 'gen_ai.input.messages'

/**
 * The messages as they came; system instructions become a first message. Both are JSON texts, so
 * they are joined as bytes. Of several events with one of them the first counts.
 */
function systemThenMessages(gathered: Gathered): Uint8Array | string | undefined {
  let instructions: string | Uint8Array = ''
  let messages: string | Uint8Array = ''
  for (let at = 0; at < gathered.length; at++) {
    const key = keyAt(gathered, at)
    if (key === system && instructions.length === 0) instructions = textOf(gathered.values[at])
    if (key === asked && messages.length === 0) messages = textOf(gathered.values[at])
  }
  if (instructions.length === 0) {
    if (messages.length === 0) return undefined
    return messages
  }
  const parts = isJsonList(instructions)
    ? instructions
    : JSON.stringify(plainOf(decoded(instructions)))
  const head = Buffer.concat([
    Buffer.from('[{"role":"system","parts":'),
    bytesOf(parts),
    Buffer.from('}'),
  ])
  if (!isJsonList(messages)) {
    return messages.length === 0
      ? Buffer.concat([head, Buffer.from(']')])
      : Buffer.concat([
          head,
          Buffer.from(','),
          bytesOf(JSON.stringify(decoded(messages))),
          Buffer.from(']'),
        ])
  }
  const rest = bytesOf(messages).subarray(1)
  const comma = rest.toString('latin1', 0, 64).trimStart()[0] === ']' ? '' : ','
  return Buffer.concat([head, Buffer.from(comma), rest])
}

/** Attributes are gathered by the places of their keys, events by the keys themselves. */
function keyAt({ paths, places }: Gathered, at: number): string | number | undefined {
  const [key] = paths[at] ?? []
  return key ?? (places[at] === 0 ? system : asked)
}

function isJsonList(text: string | Uint8Array): boolean {
  return typeof text === 'string' ? text[0] === '[' : text[0] === 0x5b
}

function bytesOf(text: string | Uint8Array): Buffer {
  if (typeof text === 'string') return Buffer.from(text)
  return Buffer.from(text.buffer, text.byteOffset, text.byteLength)
}
