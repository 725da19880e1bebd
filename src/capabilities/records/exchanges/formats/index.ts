import type { ExchangeFacts } from '../../../../model/exchange.ts'
import { embeddings } from './embeddings.ts'
import { envelope } from './envelope.ts'
import type { WireFormat } from './format.ts'
import { generateContent } from './generate-content.ts'
import { interactions } from './interactions.ts'
import { messages } from './messages.ts'
import { responses } from './responses.ts'

export type { FormatAnswer, WireFormat } from './format.ts'

type Endpoint = ExchangeFacts['endpoint']

/** The formats besides chat and completions, by endpoint. To add one, add its file and its row. */
const formats: ReadonlyMap<Endpoint, WireFormat> = new Map([
  ['responses', responses],
  ['responses.retrieve', responses],
  ['responses.compact', responses],
  ['responses.count_tokens', responses],
  ['messages', messages],
  ['messages.count_tokens', messages],
  ['generate_content', generateContent],
  ['generate_content.count_tokens', generateContent],
  ['interactions', interactions],
  ['interactions.retrieve', interactions],
  ['embeddings', embeddings],
  ['images', envelope],
  ['audio', envelope],
  ['rerank', envelope],
  ['moderations', envelope],
])

/** Returns the format of an endpoint; undefined for chat and completions. */
export function formatOf(endpoint: Endpoint): WireFormat | undefined {
  return formats.get(endpoint)
}
