import { objectFrom, textFrom } from '../../../../kernel/json-values.ts'
import type { ExchangeFacts } from '../../../../model/exchange.ts'
import { errorIn, noFormatAnswer, type WireFormat } from './format.ts'
import { generateContent } from './generate-content.ts'
import { interactions } from './interactions.ts'
import { messages } from './messages.ts'
import { responses } from './responses.ts'

export type { FormatAnswer, WireFormat } from './format.ts'

/** Embeddings of OpenAI and compatible servers. Neither texts nor vectors are recorded. */
const embeddings: WireFormat = {
  readRequest: (body) => ({ model: textFrom(body['model']), input: undefined, tool_results: [] }),
  readWhole: (body) => {
    const answer = objectFrom(body)
    return {
      ...noFormatAnswer,
      model: textFrom(answer?.['model']),
      usage: objectFrom(answer?.['usage']),
      error: answer && errorIn(answer),
      done: true,
    }
  },
  openStream: () => ({ add: () => undefined, answer: () => noFormatAnswer }),
}

/** Any JSON: model, usage and id, where OpenAI and Anthropic have them. No content is recorded. */
const envelope: WireFormat = {
  readRequest: (body) => ({ model: textFrom(body['model']), input: undefined, tool_results: [] }),
  readWhole: (body) => {
    const answer = objectFrom(body)
    return {
      ...noFormatAnswer,
      model: textFrom(answer?.['model']),
      id: textFrom(answer?.['id']),
      usage: objectFrom(answer?.['usage']),
      error: answer && errorIn(answer),
      done: true,
    }
  },
  openStream: () => ({ add: () => undefined, answer: () => noFormatAnswer }),
}

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
