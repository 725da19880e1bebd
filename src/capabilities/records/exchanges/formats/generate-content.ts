import { itemsOf, type JsonObject, objectFrom, textFrom } from '../../../../kernel/json-values.ts'
import {
  type AnswerParts,
  type AskedContent,
  argumentsText,
  errorIn,
  messageFrom,
  noFormatAnswer,
  noParts,
  objectsIn,
  type StreamReader,
  toolResult,
  type WireFormat,
  withSystem,
} from './format.ts'
import { PartialArguments } from './partial-arguments.ts'

/**
 * Gemini's generateContent: https://ai.google.dev/api/generate-content. Without `alt=sse` a stream is an
 * array of the same chunks; Cloud Code wraps each in `response`.
 */
export const generateContent: WireFormat = {
  readRequest,
  readWhole: (body) => {
    const stream = openStream()
    const chunks = Array.isArray(body) ? body : [body]
    for (const chunk of chunks) stream.add('', objectFrom(chunk) ?? {})
    return { ...stream.answer(), done: true }
  },
  openStream,
}

function readRequest(body: JsonObject): AskedContent {
  const asked = objectFrom(body['request']) ?? body
  const contents = itemsOf(asked['contents'])
  const system = objectFrom(asked['systemInstruction'] ?? asked['system_instruction'])
  const last = objectFrom(contents.at(-1))
  const results = itemsOf(last?.['parts']).flatMap((part) => {
    const found = objectFrom(objectFrom(part)?.['functionResponse'])
    if (found === undefined) return []
    return [toolResult(textFrom(found['id']) || found['name'], found['response'])]
  })
  const text = itemsOf(system?.['parts']).map((part) => textFrom(objectFrom(part)?.['text']))
  return {
    // The path names the model.
    model: textFrom(body['model']),
    input: withSystem(text.join(''), contents),
    tool_results: results,
  }
}

function openStream(): StreamReader {
  const parts = noParts()
  const open = new PartialArguments()
  const seen = { ...noFormatAnswer, isAnswer: false }
  return {
    add: (_event, data) => {
      const chunk = objectFrom(data['response']) ?? data
      seen.model = textFrom(chunk['modelVersion']) || seen.model
      seen.id = textFrom(chunk['responseId']) || seen.id
      seen.usage = objectFrom(chunk['usageMetadata']) ?? seen.usage
      seen.error = errorIn(data) ?? seen.error
      const blocked = textFrom(objectFrom(chunk['promptFeedback'])?.['blockReason'])
      if (blocked !== '') Object.assign(seen, { finish_reason: blocked, isAnswer: true })
      // Further candidates are other answers to the same call.
      const [candidate] = objectsIn(chunk['candidates'])
      if (candidate === undefined) return
      seen.isAnswer = true
      seen.finish_reason = textFrom(candidate['finishReason']) || seen.finish_reason
      for (const part of itemsOf(objectFrom(candidate['content'])?.['parts'])) {
        addPart(parts, open, objectFrom(part))
      }
      addHosted(parts, candidate)
    },
    answer: () => {
      const { isAnswer, ...found } = seen
      open.finish()
      const { usage, finish_reason } = found
      return {
        ...found,
        service_tier: usage?.['trafficType'] ?? usage?.['serviceTier'],
        message: isAnswer ? messageFrom(parts) : undefined,
        done: finish_reason !== '',
      }
    },
  }
}

function addPart(parts: AnswerParts, open: PartialArguments, part: JsonObject | undefined): void {
  if (part === undefined) return
  const text = textFrom(part['text'])
  if (part['thought'] === true) parts.reasoning += text
  else parts.text += text
  const call = objectFrom(part['functionCall'])
  if (call !== undefined && !open.take(call, parts.calls)) {
    const given = argumentsText(call['args'] ?? {})
    parts.calls.push({ id: textFrom(call['id']), name: textFrom(call['name']), arguments: given })
  }
  for (const type of ['executableCode', 'toolCall'] as const) {
    const hosted = objectFrom(part[type])
    if (hosted === undefined) continue
    const name = textFrom(hosted['toolType']) || 'code_execution'
    parts.server_tools.push({ id: textFrom(hosted['id']), type, name })
  }
}

/** Searches leave only what they found. */
function addHosted(parts: AnswerParts, candidate: JsonObject): void {
  const grounding = objectFrom(candidate['groundingMetadata'])
  const isFile = objectsIn(grounding?.['groundingChunks']).some((one) => 'retrievedContext' in one)
  const isSearch = itemsOf(grounding?.['webSearchQueries']).length > 0
  if (isSearch) addOnce(parts, 'groundingMetadata', 'google_search')
  else if (isFile) addOnce(parts, 'groundingMetadata', 'file_search')
  if (objectFrom(candidate['urlContextMetadata']) !== undefined) {
    addOnce(parts, 'urlContextMetadata', 'url_context')
  }
}

/** The last chunks of a stream may all have what was found. */
function addOnce({ server_tools }: AnswerParts, type: string, name: string): void {
  if (!server_tools.some((tool) => tool.type === type)) server_tools.push({ id: '', type, name })
}
