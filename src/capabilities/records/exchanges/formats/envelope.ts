import { objectFrom, textFrom } from '../../../../kernel/json-values.ts'
import { errorIn, noFormatAnswer, type WireFormat } from './format.ts'

/** Any JSON: model, usage and id, where OpenAI and Anthropic have them. No content is recorded. */
export const envelope: WireFormat = {
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
