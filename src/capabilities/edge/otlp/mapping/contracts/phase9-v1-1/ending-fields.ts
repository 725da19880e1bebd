import { endingFields as first } from '../phase9/ending-fields.ts'
import { attribute, rule } from '../sources.ts'

/** As in the first contract; `finish_reason` and the time to the first token have further sources. */
export const endingFields: typeof first = {
  ...first,
  finish_reason: rule('text', [
    ...first.finish_reason.sources,
    {
      from: 'attributes',
      keys: ['gen_ai.output.messages'],
      path: ['0', 'finish_reason'],
      table: 'finish_reasons',
    },
    {
      from: 'event',
      event: 'gen_ai.client.inference.operation.details',
      key: 'gen_ai.output.messages',
      path: ['0', 'finish_reason'],
      table: 'finish_reasons',
    },
    { from: 'event', event: 'gen_ai.choice', key: 'finish_reason', table: 'finish_reasons' },
  ]),
  time_to_first_token_ms: rule('milliseconds', [
    ...first.time_to_first_token_ms.sources,
    // Strands Agents names it as the metric of the conventions, which has seconds, in milliseconds.
    attribute('gen_ai.server.time_to_first_token', { in_scopes: ['strands*'] }),
  ]),
}
