import { objectFrom, textFrom } from '../../../../kernel/json-values.ts'
import { errorIn, noFormatAnswer, type WireFormat } from './format.ts'

/** Embeddings of OpenAI and compatible servers. Neither texts nor vectors are recorded. */
export const embeddings: WireFormat = {
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
